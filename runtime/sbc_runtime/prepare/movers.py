"""What `as` moves: a path of the host, and with it everything stated below it."""

from sbc_runtime.plan import Path, PathRule
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.paths import Found


class Movers:
    """The statements with `as`: by the path that they name, and by what it leads to."""

    def __init__(self, found: list[tuple[PathRule, Found]]) -> None:
        self._by_path: dict[Path, Path] = {}
        self._by_real: dict[str, Path] = {}
        for rule, seen in found:
            if rule.place is not None:
                self._by_path.setdefault(rule.path, rule.place)
                self._by_real.setdefault(seen.real, rule.place)

    def nearest(self, real: str) -> tuple[str, Path] | None:
        """Give the nearest path above a path of the host that is moved, and where to."""
        return next(((above, self._by_real[above]) for above in parents(real) if above in self._by_real), None)

    def moves(self, rule: PathRule) -> bool:
        """Whether a rule's place is only what a path above it, moved by `as`, makes it."""
        rest = rule.path.rest
        while rule.place is not None and "/" in rest:
            rest = rest.rpartition("/")[0]
            to = self._by_path.get(Path(rule.path.base, rest))
            if (
                to is not None
                and to.base == rule.place.base
                and rule.place.rest == to.rest + rule.path.rest[len(rest) :]
            ):
                return True
        return False

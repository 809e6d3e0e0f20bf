"""The `files` rules by their path on the host: which one decides for a path, and where a path is in the sandbox."""

from sbc.backends.bwrap.step import ROOT
from sbc.policy.filesystem import PathRule
from sbc.policy.values import PathValue


class Tree:
    """Finds the nearest rule above a path by its text, in as many steps as the path is deep."""

    def __init__(self, rules: tuple[PathRule, ...]) -> None:
        self.rules = rules
        self._by_path = {rule.path: rule for rule in rules}
        self._movers = {rule.path: rule for rule in rules if rule.place is not None}

    def __contains__(self, path: PathValue) -> bool:
        return path in self._by_path

    def rule(self, path: PathValue) -> PathRule | None:
        """Give the rule that decides for a path, as far as spelled paths tell."""
        return next((self._by_path[one] for one in (path, *above(path)) if one in self._by_path), None)

    def place(self, path: PathValue) -> PathValue:
        """Give a path of the host as the sandbox sees it: moved with the nearest path above it that says `as`."""
        mover = next((self._movers[one] for one in (path, *above(path)) if one in self._movers), None)
        if mover is None:
            return path
        moved = mover.seen_as
        below = "".join(f"/{part}" for part in path.parts[len(mover.path.parts) :])
        return PathValue(moved.base, (moved.rest + below) if moved != ROOT else below or "/")


def above(path: PathValue) -> list[PathValue]:
    """Give the folders above a path that its text names, the nearest first; a parameter and the root are some."""
    parts = path.parts
    rests = ("".join(f"/{part}" for part in parts[:length]) for length in range(len(parts) - 1, -1, -1))
    return [PathValue(path.base, rest or ("" if path.base else "/")) for rest in rests]

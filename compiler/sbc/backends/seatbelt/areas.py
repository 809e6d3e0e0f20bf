"""The `files` block as areas of the tree on macOS: which path has which access, shallow first."""

from functools import cached_property
from typing import TypeVar

from sbc.backends.seatbelt.paths import ENVIRONMENT_HOME, NAME, ROOT, folded, parents, sayable
from sbc.backends.target import Loss, Unsayable
from sbc.diagnostics.catalogue.seatbelt import SamePath
from sbc.diagnostics.diagnostic import Diagnostic
from sbc.policy.filesystem import Access, DevicesKind, PathRule, RootKind, StartIn, Tmp
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.values import PathValue
from sbc.record import Record
from sbc_runtime.macos.spelling import order

_Statement = TypeVar("_Statement", PathRule, Tmp, RootKind, DevicesKind, StartIn)


class Area(Record):
    """One path, resolved, with its access to all below it; `leaf`: a single file, nothing is below it."""

    path: PathValue
    access: Access
    origin: Origin
    noexec: bool = False
    leaf: bool = False

    @property
    def device(self) -> bool:
        """Whether it lies in `/dev`, where `devices` allows more than the other blocks speak of."""
        return in_dev(self.path)

    @property
    def order(self) -> tuple[bool, int, bool, int, bool, str]:
        """The sort key of the rules on it."""
        path = self.path
        return order(path.base, len(path.parts), self.access, self.noexec, str(path))


def in_dev(path: PathValue) -> bool:
    """Tell whether a path is `/dev` or lies in it, as far as its text says."""
    return path.base is None and folded(path).parts[:1] == ("dev",)


class Areas(Record):
    """Every area, in the order in which rules are written; the first is the root's."""

    areas: tuple[Area, ...]

    def access(self, path: PathValue) -> Access | None:
        """Give the access of a path by the deepest area that surely covers it; None where only the machine knows."""
        for above in (path, *parents(path), ROOT):
            area = self._by_path.get(folded(above))
            if area is not None and above.base == path.base and not (area.leaf and above != path):
                return area.access
        return None

    @cached_property
    def _by_path(self) -> dict[PathValue, Area]:
        return {folded(area.path): area for area in self.areas}

    @cached_property
    def _bases(self) -> dict[Access, frozenset[str | None]]:
        kinds: tuple[Access, ...] = ("read", "write", "hide")
        return {kind: frozenset(a.path.base for a in self.areas if a.access == kind) for kind in kinds}

    def others(self, access: Access, path: PathValue) -> bool:
        """Tell whether a path may lie in an area of some access though their texts do not say so.

        Only a path below a parameter can: it is in no literal area by its text, nor in another parameter's.
        """
        return path.base is not None and not self._bases[access] <= {path.base}


def on_macos(statements: tuple[_Statement, ...]) -> tuple[_Statement, ...]:
    """Leave out what is said of Linux alone; what is said of macOS alone comes last."""
    held = [one for one in statements if one.origin.on != "linux"]
    return tuple(sorted(held, key=lambda one: one.origin.on == "macos"))


def areas_of(policy: Policy) -> tuple[Areas, tuple[Loss, ...], tuple[Diagnostic, ...]]:
    """Give the areas, what is lost, and what is wrong with the paths.

    `Unsayable` for a path that is moved (`as`), and for one that no profile can hold.
    """
    files = policy.files
    errors: list[Diagnostic] = []
    losses: list[Loss] = []
    found: list[tuple[PathValue, Area]] = []
    single = {param.name for param in policy.params if param.type == "file"}
    for rule in on_macos(files.rules):
        if rule.place is not None and rule.place != rule.path:
            raise Unsayable(NAME, rule.origin, "macOS has no private root to move a path in")
        leaf = rule.path.base in single and not rule.path.rest
        path = sayable(rule.path, rule.origin)
        found.append((rule.path, Area(path, rule.access, rule.origin, rule.noexec, leaf)))
        if rule.access == "hide" and path.base == "home":
            path = PathValue(ENVIRONMENT_HOME, path.rest)
            found.append((path, Area(path, "hide", rule.origin)))
    for tmp in on_macos(files.tmps):
        path = sayable(tmp.path, tmp.origin)
        found.append((tmp.path, Area(path, "hide", tmp.origin)))
        why = f"SBPL has no private file systems, so `{path}` is closed; give it with `on macos {{ write ... }}`"
        losses.append(Loss(NAME, "narrower", tmp.origin, why))
    areas = _distinct(found, errors)
    if not any(area.path == ROOT for area in areas):
        areas.append(_root(policy))
    return Areas(tuple(sorted(areas, key=lambda area: area.order))), tuple(losses), tuple(errors)


def _root(policy: Policy) -> Area:
    roots = on_macos(policy.files.roots)
    if roots and roots[-1].kind == "host":
        return Area(ROOT, "read", roots[-1].origin)
    return Area(ROOT, "hide", roots[-1].origin if roots else policy.files.origin)


def _distinct(found: list[tuple[PathValue, Area]], errors: list[Diagnostic]) -> list[Area]:
    """Leave out areas that are said twice; one path with two accesses is an error.

    Two spellings of one path both stay: how filters compare case is not known for sure.
    """
    kept: dict[PathValue, Area] = {}
    seen: dict[PathValue, tuple[PathValue, Area]] = {}
    for spelled, area in found:
        kept.setdefault(area.path, area)
        before, other = seen.setdefault(folded(area.path), (spelled, area))
        if (other.access, other.noexec) != (area.access, area.noexec):
            errors.append(SamePath(area.origin.span, str(spelled), str(before), str(other.path)))
    return list(kept.values())

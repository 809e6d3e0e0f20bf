"""Values for the parameters of a profile: a profile holds none, so it is proven for chosen ones."""

from collections.abc import Iterator
from itertools import islice

from sbc.backends.seatbelt.proof.places import HOMES, Places, filled
from sbc.policy.policy import Policy
from sbc.policy.values import BUILT_IN

_WORDS = ("dir", "file", "path")


def choices(policy: Policy) -> Iterator[dict[str, str]]:
    """Give choices of values under which the statements are in the order that was assumed when compiling."""
    names = [param.name for param in policy.params if param.type in _WORDS and param.name not in BUILT_IN]
    new = _new(policy)
    home = f"/Users/{new}"
    plain = {
        "home": home,
        ":HOME": home,
        "tmpdir": f"/private/var/folders/{new}/T",
        "cwd": f"{home}/cwd",
        **{name: f"{home}/{index}" for index, name in enumerate(names)},
    }
    yield plain
    if not _bases(policy):
        return
    other = f'/Volumes/{new} "q"\\ (1)[a].*'
    awkward = {**plain, "home": f"{other}/u", ":HOME": f"/Users/{new}x"}
    for order in (("write", "hide", "read"), ("hide", "read", "write")):
        # Parameters within what is stated literally: first where everything may be changed, then where nothing may.
        hosts = sorted(
            (rule for rule in policy.files.rules if rule.path.base is None and rule.origin.on != "linux"),
            key=lambda rule: order.index(rule.access),
        )
        within = [filled(rule.path, {}) for rule in hosts] or [other]
        folders = (f"{'' if top == '/' else top}/{new} {index}" for index, top in enumerate(within))
        inside = dict(zip(("cwd", *names, "tmpdir"), _round(list(folders), len(names) + 2), strict=True))
        if order[0] == "write":
            further = (one for one in _further_in(policy, awkward | inside, new) if _holds(policy, one))
            yield from islice(further, 1)
        if _holds(policy, awkward | inside):
            yield awkward | inside


def _further_in(policy: Policy, values: dict[str, str], new: str) -> Iterator[dict[str, str]]:
    """Give values with the home folder and the other parameters below one that may be written; with the home alone.

    The folders above a protected path then lie in what a parameter opens.
    """
    outer = _opened(policy)
    if outer is None:
        return
    below = f'{values[outer]}/"q"\\ (1)[a].*'
    home = {"home": f"{below}/u", ":HOME": f"{below}/v"}
    kept = (*HOMES, outer)
    yield values | home | {name: f"{below}/{new} {index}" for index, name in enumerate(values) if name not in kept}
    yield values | home


def _opened(policy: Policy) -> str | None:
    """Give a parameter whose folder may be written: the first; None where there is none."""
    opened = (rule.path for rule in policy.files.rules if rule.access == "write" and rule.origin.on != "linux")
    return next((path.base for path in opened if path.base not in (None, *HOMES) and not path.rest), None)


def _round(folders: list[str], count: int) -> Iterator[str]:
    """Give so many folders, one parameter's each; the later ones of one place lie beside the first."""
    for index in range(count):
        yield f"{folders[index % len(folders)]}.{index}"


def _holds(policy: Policy, values: dict[str, str]) -> bool:
    return Places(policy, values).as_compiled()


def _bases(policy: Policy) -> bool:
    """Tell whether a parameter matters."""
    rules = [one.path for one in (*policy.files.rules, *policy.files.tmps)]
    sockets = [path for one in policy.network.allowances if (path := getattr(one, "path", None)) is not None]
    return any(path.base is not None for path in (*rules, *sockets))


def _new(policy: Policy) -> str:
    """Give a name that no path of the policy holds."""
    used = {part.lower() for one in (*policy.files.rules, *policy.files.tmps) for part in one.path.parts}
    name = "u"
    while name in used:
        name += "u"
    return name

"""The places of the sandbox that a policy speaks of, and what each may be used for."""

from sbc.policy.filesystem import Access
from sbc.policy.origin import Origin, System
from sbc.policy.policy import Policy
from sbc.policy.values import PathValue
from sbc.record import Record

MINIMAL = ("null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm")
STANDARD = (*MINIMAL, "tty", "pts", "ptmx")


class Place(Record):
    """What a path of the sandbox, and everything below it, may be used for."""

    path: PathValue
    access: Access
    origin: Origin
    noexec: bool = False


def places(policy: Policy, system: System) -> tuple[Place, ...]:
    """Give every place that a statement of the policy makes on a system."""
    files = policy.files
    made = [
        Place(rule.seen_as, rule.access, rule.origin, rule.noexec)
        for rule in files.rules
        if _holds(rule.origin, system)
    ]
    made += [Place(tmp.path, "write", tmp.origin, tmp.noexec) for tmp in files.tmps if _holds(tmp.origin, system)]
    made += _devices(policy, system)
    if system == "linux":
        made += [
            Place(PathValue(None, f"/proc/{rule.entry}"), "read" if rule.access == "read-only" else "hide", rule.origin)
            for rule in policy.proc
            if _holds(rule.origin, system)
        ]
    return tuple(made)


def below(path: PathValue, parts: tuple[str, ...]) -> PathValue:
    """Give the path that `parts` lead to from another."""
    rest = "/".join((*path.parts, *parts))
    return PathValue(path.base, f"/{rest}" if rest or path.base is None else "")


def _devices(policy: Policy, system: System) -> list[Place]:
    dev = PathValue(None, "/dev")
    made: list[Place] = []
    for devices in policy.files.devices:
        if not _holds(devices.origin, system):
            continue
        made.append(Place(dev, "write" if devices.kind == "host" else "hide", devices.origin))
        names = {"none": (), "minimal": MINIMAL, "standard": STANDARD, "host": ()}[devices.kind]
        made += [Place(below(dev, (name,)), "write", devices.origin) for name in names]
    return made


def _holds(origin: Origin, system: System) -> bool:
    return origin.on in (None, system)

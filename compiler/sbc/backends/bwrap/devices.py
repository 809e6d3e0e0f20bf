"""`devices`: a /dev of the sandbox's own."""

from collections.abc import Iterator

from sbc.backends.bwrap.step import Mount, hidden, on_linux, shows_host
from sbc.backends.bwrap.words import NAME
from sbc.backends.target import Loss
from sbc.policy.filesystem import Devices, Files
from sbc.policy.values import PathValue

DEV = PathValue(None, "/dev")
COVERED = (PathValue(None, "/dev/pts"), PathValue(None, "/dev/shm"))  # noqa: S108 (covered, not used)
"""What the sandbox never sees of the host's /dev."""

_NODES = ("null", "zero", "full", "random", "urandom")
_STREAMS = enumerate(("stdin", "stdout", "stderr"))
_LINKS = (("/proc/self/fd", "/dev/fd"), *((f"/proc/self/fd/{number}", f"/dev/{name}") for number, name in _STREAMS))
_SHM = ("--perms", "1777", "--size", str(64 << 20), "--tmpfs", "/dev/shm")  # noqa: S108 (the sandbox's own)


def devices_of(files: Files) -> Devices:
    """Give the kind of devices; none stated: minimal."""
    stated = on_linux(files.devices)
    return stated[-1].kind if stated else "minimal"


def mounts(files: Files) -> Iterator[Mount]:
    """Give /dev: a small file system with what the profile names, read-only in the end."""
    empty = ("--perms", "0755", "--size", str(64 << 10), "--tmpfs", "/dev")
    match devices_of(files):
        case "none":
            if shows_host(files):
                yield Mount(DEV, empty, ("--remount-ro", "/dev"), rank=0)
        case "minimal":
            nodes = [item for name in _NODES for item in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")]
            links = [item for target, link in _LINKS for item in ("--symlink", target, link)]
            yield Mount(DEV, (*empty, *nodes, *links, *_SHM), ("--remount-ro", "/dev"), rank=0)
        case "standard":
            # bubblewrap's own: the minimal ones, tty, and a devpts of this sandbox.
            yield Mount(DEV, ("--dev", "/dev", *_SHM), ("--remount-ro", "/dev"), rank=0)
        case _:
            yield Mount(DEV, ("--dev-bind", "/dev", "/dev"), rank=0)
            for place in COVERED:
                yield hidden(place, place, optional=True, rank=0)


def losses(files: Files) -> Iterator[Loss]:
    """Say what is not as the statement says."""
    for stated in on_linux(files.devices)[-1:]:
        if stated.kind == "host":
            why = (
                "bubblewrap makes a read-only /dev without devices, so whoever may make files there outside may inside"
            )
            yield Loss(NAME, "wider", stated.origin, why)
            yield Loss(NAME, "narrower", stated.origin, "`/dev/pts` and `/dev/shm` are the host's, so both are covered")

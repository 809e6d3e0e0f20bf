"""`devices` on macOS: which files of `/dev` may be used. They are the host's, so each is allowed by name."""

from collections.abc import Iterator

from sbc.backends.seatbelt.families import EXEC, OPERATIONS, READ, WRITE
from sbc.backends.seatbelt.paths import subpath
from sbc.backends.seatbelt.rules import Region, SbRule, on_paths
from sbc.backends.seatbelt.sexpr import Text, form
from sbc.policy.filesystem import Devices
from sbc.policy.values import PathValue
from sbc.record import Record

DEV = PathValue(None, "/dev")
USE = ("file-read*", "file-test-existence", "file-write-data", "file-ioctl")
MINIMAL = ("null", "zero", "random", "urandom", "stdin", "stdout", "stderr")


class Placed(Record):
    """A rule that stands among those of the areas of its depth, before them."""

    depth: tuple[int, int]
    rule: SbRule


def rules(devices: Devices, note: str) -> tuple[Placed, ...]:
    """Give the rules, shallow first."""
    return tuple(_rules(devices, note))


def _rules(devices: Devices, note: str) -> Iterator[Placed]:
    everything = (Region(DEV),)
    if devices == "host":
        # The deny first: it must not take away the writing of data, which alone is allowed after it.
        yield Placed(DEV.depth, SbRule("deny", (*WRITE, *EXEC), (subpath(DEV),), everything, note))
        yield Placed(DEV.depth, SbRule("allow", (*USE, "file-search"), (subpath(DEV),), everything))
    else:
        yield Placed(DEV.depth, SbRule("deny", (*OPERATIONS, "file-ioctl"), (subpath(DEV),), everything, note))
        yield Placed(DEV.depth, on_paths("allow", READ[:2], DEV))
    if devices in ("minimal", "standard"):
        files = tuple(PathValue(None, f"/dev/{name}") for name in MINIMAL)
        yield Placed(files[0].depth, on_paths("allow", USE, *files))
        streams = PathValue(None, "/dev/fd")
        yield Placed(streams.depth, SbRule("allow", USE[:3], (subpath(streams),), (Region(streams),)))
    if devices in ("standard", "host"):
        yield from (Placed((0, 2), rule) for rule in _terminals())


def _terminals() -> Iterator[SbRule]:
    """Allow the terminals that the command makes, never those of other sessions; the system marks the former."""
    everything = (Region(DEV),)
    terminals = form("regex", Text("^/dev/ttys[0-9]+$"))
    yield on_paths("allow", USE, PathValue(None, "/dev/tty"), PathValue(None, "/dev/ptmx"))
    yield SbRule("deny", (*READ, *WRITE, "file-write-data"), (terminals,), everything)
    marked = form("require-all", terminals, form("extension", Text("com.apple.sandbox.pty")))
    yield SbRule("allow", USE, (marked,), everything)
    # One that was there before has no mark. It cannot be opened; ioctl on an inherited one gives no new right.
    yield SbRule("allow", ("file-ioctl",), (terminals,), everything)
    yield SbRule("allow", ("pseudo-tty",))

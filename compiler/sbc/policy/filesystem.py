"""The `files` and `proc` blocks: which paths may be used for what."""

from typing import Literal

from sbc.policy.origin import Origin
from sbc.policy.values import Count, PathValue, Size
from sbc.record import Record

Access = Literal["read", "write", "hide"]
Devices = Literal["none", "minimal", "standard", "host"]


class PathRule(Record):
    """Gives one path its access.

    `path` is a path of the host, `place` the path of the sandbox under which it and all below it is seen (`as`; None:
    the same). `optional`: skipped when missing. `noexec`: nothing below it may be executed. `identity`: what the
    environment digest names instead of the path.
    """

    access: Access
    path: PathValue
    origin: Origin
    place: PathValue | None = None
    optional: bool = False
    noexec: bool = False
    identity: str | None = None

    @property
    def seen_as(self) -> PathValue:
        """The path of the sandbox that the rule is about."""
        return self.place or self.path


class Tmp(Record):
    """A private, empty, writable file system at `path` (of the sandbox); None: no budget of that kind."""

    path: PathValue
    size: Size | None
    inodes: Count | None
    origin: Origin
    noexec: bool = False


class RootKind(Record):
    """`private`: only what is listed exists. `host`: the host's tree, read-only unless listed."""

    kind: Literal["private", "host"]
    origin: Origin


class DevicesKind(Record):
    """Which device files exist (`devices`)."""

    kind: Devices
    origin: Origin


class StartIn(Record):
    """The folder, of the sandbox, in which the command starts; `path` None: decided by the loader's default."""

    path: PathValue | None
    origin: Origin


class Files(Record):
    """The `files` block; statements limited to one system carry it in `origin.on`."""

    roots: tuple[RootKind, ...]
    rules: tuple[PathRule, ...]
    tmps: tuple[Tmp, ...]
    devices: tuple[DevicesKind, ...]
    start_in: tuple[StartIn, ...]
    origin: Origin


class ProcRule(Record):
    """Protects one entry of the sandbox's own /proc, named relative to it (`sys`, `bus`)."""

    access: Literal["read-only", "hide"]
    entry: str
    origin: Origin

"""SBX420 to SBX439: the `seatbelt` block, and paths on macOS."""

from typing import ClassVar

from sbc.diagnostics.catalogue.names import did_you_mean
from sbc.diagnostics.diagnostic import Diagnostic


class UnknownOperation(Diagnostic):
    """A rule of the `seatbelt` block must name operations of SBPL, as macOS 14 has them.

    macOS refuses a profile with an unknown operation. Right: `allow mach-lookup { global-name "com.apple.logd" }`.
    """

    code: ClassVar[str] = "SBX420"
    name: str
    suggestion: str | None

    def title(self) -> str:
        return f"unknown operation `{self.name}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class UselessOperation(Diagnostic):
    """macOS reads the operation's name and does nothing with it, so the rule would be ignored."""

    code: ClassVar[str] = "SBX421"
    name: str

    def title(self) -> str:
        return f"macOS ignores the operation `{self.name}`"


class UnknownFilter(Diagnostic):
    """A filter of the `seatbelt` block must be one of SBPL's.

    Right: `subpath "/opt"`, `global-name "com.apple.logd"`, `require-not { literal "/a" }`.
    """

    code: ClassVar[str] = "SBX422"
    name: str
    suggestion: str | None

    def title(self) -> str:
        return f"unknown filter `{self.name}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class MisplacedFilter(Diagnostic):
    """An operation takes only the filters that look at something which it has: a path, a service's name, a target.

    macOS refuses a profile where they do not fit.
    """

    code: ClassVar[str] = "SBX423"
    name: str
    operation: str

    def title(self) -> str:
        return f"`{self.operation}` does not take the filter `{self.name}`"


class FilterArgument(Diagnostic):
    """A filter's argument must be of the kind that the filter compares.

    Names and paths are strings, kinds are bare words; the host of `remote` and `local` is `*` or `localhost`, with a
    port or `*`: SBPL knows neither names of hosts nor ranges of addresses. Right: `remote ip "localhost:443"`.
    """

    code: ClassVar[str] = "SBX424"
    name: str
    why: str

    def title(self) -> str:
        return f"wrong argument of `{self.name}`: {self.why}"


class DeadSpelling(Diagnostic):
    """macOS compares the path that the kernel resolved: `/tmp`, `/var` and `/etc` are below `/private`.

    A filter on another spelling never matches: an allow does nothing, and a deny leaves the path open.
    Right: `subpath "/private/tmp/x"`.
    """

    code: ClassVar[str] = "SBX425"
    path: str
    right: str | None

    def title(self) -> str:
        return f"`{self.path}` never matches"

    def help(self) -> str | None:
        return f"write `{self.right}`" if self.right else "write the whole path, from `/`, without `..`"


class UnsayablePath(Diagnostic):
    """A string of the `seatbelt` block must be UTF-8 without newline and NUL, and at most 1,024 bytes long.

    Where a path of another block is not, the profile has no SBPL file.
    """

    code: ClassVar[str] = "SBX426"
    path: str
    why: str

    def title(self) -> str:
        return f"`{self.path}` cannot stand in an SBPL profile: {self.why}"


class BareDefault(Diagnostic):
    """The default of a profile is said by a statement of its own, once. Right: `default allow`."""

    code: ClassVar[str] = "SBX428"
    action: str

    def title(self) -> str:
        return f"`{self.action} default` is not how the default is said"

    def help(self) -> str | None:
        return f"write `default {self.action}`"


class SamePath(Diagnostic):
    """Two spellings of one path on macOS have different access: `/tmp` is `/private/tmp`, and `/A` is `/a`.

    Give the path one access, or limit a statement to one system: `on linux { ... }`.
    """

    code: ClassVar[str] = "SBX427"
    path: str
    other: str
    resolved: str

    def title(self) -> str:
        return f"`{self.path}` and `{self.other}` are both `{self.resolved}` on macOS, with different access"

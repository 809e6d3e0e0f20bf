"""SBX330 to SBX359: blocks, and `network`, `environment`, `identity`, `limits` and `seatbelt`."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Label, Severity
from sbc.diagnostics.span import Span


class NeverApplies(Diagnostic):
    """An `on` block inside another one holds where both do; inside `on linux`, `on macos` holds nowhere."""

    code: ClassVar[str] = "SBX330"
    system: str
    outer: str

    def title(self) -> str:
        return f"`on {self.system}` inside `on {self.outer}` never applies"


class HostName(Diagnostic):
    """Only `localhost` can be named: names of hosts are reserved for a proxy, for no target can resolve them safely.

    Right: `network none { connect localhost:5432 }`.
    """

    code: ClassVar[str] = "SBX332"
    host: str

    def title(self) -> str:
        return f"the host `{self.host}` cannot be named"

    def help(self) -> str | None:
        return "only `localhost` can; host names are reserved for a proxy"


class PortRange(Diagnostic):
    """A port is a number from 1 to 65535, or `*` for every port.

    Right: `connect localhost:5432`.
    """

    code: ClassVar[str] = "SBX333"
    port: str

    def title(self) -> str:
        return f"`{self.port}` is not a port"

    def help(self) -> str | None:
        return "write 1 to 65535, or `*`"


class StatedAgain(Diagnostic):
    """The same thing is said twice: one of them says nothing."""

    code: ClassVar[str] = "SBX334"
    severity: ClassVar[Severity] = Severity.LINT
    what: str
    first: Span

    def title(self) -> str:
        return f"{self.what} is stated twice"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first stated here"),)


class IdRangeWrong(Diagnostic):
    """An id is a number from 0 to 4294967294; the last one, 4294967295, means "no id" to the kernel.

    Right: `user 1000`, `host-user 60000..60099`.
    """

    code: ClassVar[str] = "SBX335"
    value: str

    def title(self) -> str:
        return f"{self.value} is not an id"

    def help(self) -> str | None:
        return "ids go from 0 to 4294967294; a range from the lower to the higher"


class ValueKind(Diagnostic):
    """Each key of `identity` and `limits`, and each option of `tmp`, takes one kind of value.

    Right: `wall 10min`, `memory 2GiB`, `processes 256`, `user 1000`, `hostname "sandbox"`.
    """

    code: ClassVar[str] = "SBX336"
    key: str
    wanted: str

    def title(self) -> str:
        return f"`{self.key}` takes {self.wanted}"


class HostNameValue(Diagnostic):
    """A host name has 1 to 64 letters, digits, hyphens and dots; no part is empty or starts or ends with a hyphen.

    Right: `hostname "sandbox"`.
    """

    code: ClassVar[str] = "SBX337"
    name: str

    def title(self) -> str:
        return f"`{self.name}` is not a valid host name"


class LimitZero(Diagnostic):
    """A limit is above zero; only `core-size` may be 0.

    To have no limit, leave the statement away. Right: `wall 10min`.
    """

    code: ClassVar[str] = "SBX338"
    key: str

    def title(self) -> str:
        return f"the limit `{self.key}` must be above zero"


class LimitRange(Diagnostic):
    """A limit fits 63 bits, which is what the kernel takes."""

    code: ClassVar[str] = "SBX339"
    key: str

    def title(self) -> str:
        return f"the limit `{self.key}` is too large"


class NothingNamed(Diagnostic):
    """A statement on paths, entries of /proc or variables must name at least one; without any it does nothing."""

    code: ClassVar[str] = "SBX340"

    def title(self) -> str:
        return "the statement names nothing"

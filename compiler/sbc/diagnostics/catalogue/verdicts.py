"""SBX220 to SBX239: verdicts and the statements of the `syscalls` block."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Label
from sbc.diagnostics.span import Span


class ErrnoRange(Diagnostic):
    """`deny` takes an error number from 1 to 4095.

    The kernel turns 0 into success without doing the call, and caps what is larger. Right: `deny EPERM mount`.
    """

    code: ClassVar[str] = "SBX220"
    value: int

    def title(self) -> str:
        return f"error number {self.value} is outside 1..4095"

    def help(self) -> str | None:
        return "to do the call, write `allow`" if self.value == 0 else None


class TraceRange(Diagnostic):
    """`trace` hands a number from 0 to 65535 to the tracer (`SECCOMP_RET_DATA`).

    Right: `trace 7 open`.
    """

    code: ClassVar[str] = "SBX222"
    value: int

    def title(self) -> str:
        return f"trace number {self.value} is outside 0..65535"


class NoDefault(Diagnostic):
    """A `syscalls` block must say what happens to the calls that no rule decides.

    Right: `default allow` with an `include` of a deny-list, or `default deny EPERM` with an allow-list.
    """

    code: ClassVar[str] = "SBX223"

    def title(self) -> str:
        return "the `syscalls` block has no `default`"

    def help(self) -> str | None:
        return "add `default allow` or `default deny EPERM`"


class StatedTwice(Diagnostic):
    """A statement that can hold once only is there twice; which one was meant cannot be told. Remove one."""

    code: ClassVar[str] = "SBX224"
    what: str
    first: Span

    def title(self) -> str:
        return f"{self.what} is stated twice"

    def label(self) -> str:
        return "stated again"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first stated here"),)


class Misplaced(Diagnostic):
    """`abi`, `foreign-abi` and `default` stand directly in a `syscalls` block, never in `rules` or `on`.

    They are about the whole filter. Right: `syscalls { abi x86_64; default allow; include @stock-denylist }`.
    """

    code: ClassVar[str] = "SBX225"
    what: str
    where: str

    def title(self) -> str:
        return f"`{self.what}` cannot stand in {self.where}"

    def help(self) -> str | None:
        return "move it into the `syscalls` block"


class JoinedKernels(Diagnostic):
    """`+` joins ABIs that one kernel serves: a process can enter the kernel by each of them.

    Other ABIs get a filter of their own. Right: `abi x86_64 + i386, aarch64`.
    """

    code: ClassVar[str] = "SBX226"
    name: str
    other: str

    def title(self) -> str:
        return f"`{self.name}` and `{self.other}` are not ABIs of one kernel"

    def help(self) -> str | None:
        return f"write a comma to make two filters: `{self.other}, {self.name}`"


class RepeatedAbi(Diagnostic):
    """An ABI belongs to one filter, once."""

    code: ClassVar[str] = "SBX227"
    name: str
    first: Span

    def title(self) -> str:
        return f"ABI `{self.name}` is listed twice"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first listed here"),)


class LoneX32(Diagnostic):
    """x32 shares the architecture value of x86_64, so it can only be joined to x86_64 or be foreign to it.

    Right: `abi x86_64 + x32`.
    """

    code: ClassVar[str] = "SBX228"

    def title(self) -> str:
        return "`x32` cannot have a filter of its own"

    def help(self) -> str | None:
        return "write `x86_64 + x32`"


class OpenMultiplexer(Diagnostic):
    """Some ABIs reach a call by a second way: `socketcall` does what `socket` does, `ipc` what `shmat` does.

    So a rule on the call alone is no protection there. What the other way is called with is in user memory, which no
    filter can read. It needs a rule on the multiplexer as well, which decides at least for the call's code. Right:
    `on i386 { deny ENOSYS socketcall }` beside the rule; libc then uses the direct calls. Of one code only:
    `on i386 { deny ENOSYS socketcall when call == SYS_BIND }`, and `deny ENOSYS ipc when call & 0xffff == SHMAT`,
    since most kernels keep a version in the upper half.
    """

    code: ClassVar[str] = "SBX229"
    call: str
    multiplexer: str
    abis: str

    def title(self) -> str:
        return f"`{self.call}` can also be reached by `{self.multiplexer}` on {self.abis}"

    def label(self) -> str:
        return "the rule does not hold there"

    def help(self) -> str | None:
        return f"add a rule on it: `on {self.abis.replace(', ', ' ')} {{ deny ENOSYS {self.multiplexer} }}`"


class NoCalls(Diagnostic):
    """A rule must name at least one call; an empty group would make it do nothing."""

    code: ClassVar[str] = "SBX231"

    def title(self) -> str:
        return "the rule names no system call"


class VersionBeforeAbi(Diagnostic):
    """`newer than linux` needs a kernel that has the ABI.

    Right: a version from the one that brought the ABI on, or the statement in an `on` block of the other ABIs.
    """

    code: ClassVar[str] = "SBX232"
    version: str
    abi: str

    def title(self) -> str:
        return f"linux {self.version} did not have {self.abi} yet"


class TooManyRules(Diagnostic):
    """A rule on a group or a pattern is one rule for each call and each ABI; no profile needs so many.

    Right: say a thing once. What an earlier rule without a condition decides needs no second one.
    """

    code: ClassVar[str] = "SBX233"
    most: int

    def title(self) -> str:
        return f"there are more than {self.most:,} rules, counting one for each call on each ABI"

    def label(self) -> str:
        return "the limit is passed here"

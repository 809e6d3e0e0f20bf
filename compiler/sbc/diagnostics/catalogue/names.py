"""Of SBX200 to SBX219: calls, constants, ABIs, error numbers, arguments and kernel versions by name."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Label, Severity
from sbc.diagnostics.span import Span


def with_article(word: str) -> str:
    """Give a word in backticks with `a` or `an` before it."""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} `{word}`"


def did_you_mean(suggestion: str | None) -> str | None:
    """Give the help for a misspelt word."""
    return f"did you mean `{suggestion}`?" if suggestion else None


class UnknownCall(Diagnostic):
    """A name in a rule or a group must be a system call of some supported ABI.

    A rule on a name that no kernel knows would never decide anything. Right: `deny EPERM { ptrace kcmp }`.
    """

    code: ClassVar[str] = "SBX201"
    name: str
    suggestion: str | None

    def title(self) -> str:
        return f"unknown system call `{self.name}`"

    def label(self) -> str:
        return "no supported ABI has it"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class UnknownConstant(Diagnostic):
    """A constant must be one of the kernel's named constants, or a number.

    Right: `deny EPERM unshare when flags has any { CLONE_NEWUSER CLONE_NEWNS }`.
    """

    code: ClassVar[str] = "SBX202"
    name: str
    suggestion: str | None

    def title(self) -> str:
        return f"unknown constant `{self.name}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class ForeignConstant(Diagnostic):
    """A constant must belong to the values of the argument that it is compared with.

    `O_WRONLY` is the number 1, and so is `AF_UNIX`: a constant of another kind compares with something that was
    not meant. Where a foreign value is meant, write the number. Right: `socket unless family in { AF_UNIX AF_INET }`.
    """

    code: ClassVar[str] = "SBX203"
    name: str
    call: str
    argument: str
    kind: str | None
    suggestion: str | None

    def title(self) -> str:
        return f"`{self.name}` is not a value of `{self.call}`'s argument `{self.argument}`"

    def label(self) -> str:
        return self.kind or ""

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class EmptyGlob(Diagnostic):
    """A pattern of calls must match at least one call of some supported ABI.

    Right: `deny EPERM io_uring_*`.
    """

    code: ClassVar[str] = "SBX205"
    pattern: str
    suggestion: str | None

    def title(self) -> str:
        return f"no system call matches `{self.pattern}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class UnknownAbi(Diagnostic):
    """An ABI must be one of the supported ones.

    They are x86_64, aarch64, riscv64, s390x, ppc64le, arm, i386, x32, loongarch64 and mips64el.
    Right: `abi x86_64 + i386, aarch64`.
    """

    code: ClassVar[str] = "SBX206"
    name: str
    suggestion: str | None
    known: str

    def title(self) -> str:
        return f"unknown ABI `{self.name}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion) or f"supported are {self.known}"


class UnknownErrno(Diagnostic):
    """`deny` takes the name of an error number, or a number from 1 to 4095.

    Right: `deny EPERM mount`.
    """

    code: ClassVar[str] = "SBX207"
    name: str
    suggestion: str | None

    def title(self) -> str:
        return f"unknown error number `{self.name}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class UnknownArgument(Diagnostic):
    """A condition names an argument as the kernel's definition of the call does, or as `arg0` to `arg5`.

    In a rule on several calls the name must exist in each. The names of the manual pages (`domain`, `dirfd`,
    `request`) are understood too. Right: `deny EPERM clone when flags has any @new-namespaces`.
    """

    code: ClassVar[str] = "SBX208"
    name: str
    call: str
    known: str
    suggestion: str | None
    call_span: Span | None = None

    def title(self) -> str:
        return f"`{self.call}` has no argument `{self.name}`"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.call_span, "the call"),) if self.call_span else ()

    def help(self) -> str | None:
        listed = f"its arguments are {self.known}" if self.known else f"`{self.call}` has no arguments"
        return did_you_mean(self.suggestion) or listed


class AbsentCall(Diagnostic):
    """No ABI of the profile has this call, so the rule does nothing for it.

    That is fine where a list serves several ABIs; a rule for other ABIs can stand in `on ABI { ... }`.
    """

    code: ClassVar[str] = "SBX209"
    severity: ClassVar[Severity] = Severity.NOTE
    name: str
    abis: str

    def title(self) -> str:
        return f"`{self.name}` exists on no listed ABI"

    def label(self) -> str:
        return f"listed: {self.abis}"


class AbsentConstant(Diagnostic):
    """Some constants exist on some ABIs only; a rule that names one there must say which ABIs it is for.

    Right: `on x86_64 { deny EPERM mmap when flags has any MAP_32BIT }`.
    """

    code: ClassVar[str] = "SBX214"
    name: str
    abi: str

    def title(self) -> str:
        return f"`{self.name}` does not exist on {self.abi}"

    def help(self) -> str | None:
        return "put the rule into an `on ABI { ... }` block of the ABIs that have it"


class UnknownVersion(Diagnostic):
    """`newer than linux` takes a kernel version of the pinned table.

    Right: `newer than linux 6.12 deny ENOSYS`.
    """

    code: ClassVar[str] = "SBX215"
    version: str
    known: str

    def title(self) -> str:
        return f"unknown kernel version `{self.version}`"

    def help(self) -> str | None:
        return f"known are {self.known}"


class AbsentErrno(Diagnostic):
    """Some error numbers exist on some ABIs only.

    Use a name that every listed ABI has, or put the rule into an `on ABI { ... }` block.
    """

    code: ClassVar[str] = "SBX218"
    name: str
    abi: str

    def title(self) -> str:
        return f"the error number `{self.name}` does not exist on {self.abi}"

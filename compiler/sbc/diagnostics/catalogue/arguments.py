"""SBX250 to SBX255 and SBX267: which argument a condition looks at."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Severity


class NoSignature(Diagnostic):
    """The arguments of some calls are not in the pinned table; a condition must then say what the kernel reads.

    Right: `deny EPERM CALL when arg0:u32 == 1`.
    """

    code: ClassVar[str] = "SBX250"
    call: str
    abi: str

    def title(self) -> str:
        return f"the arguments of `{self.call}` on {self.abi} are not known"

    def help(self) -> str | None:
        return "write `argN:TYPE`, with `u16`, `u32`, `s32`, `s64` or `u64`"


class NotInRegister(Diagnostic):
    """A filter sees registers; an argument that is split over two, or lies in memory, is not one value there.

    `argN` names what one register holds. Right: `on arm { deny EPERM ftruncate64 when arg3 != 0 }`.
    """

    code: ClassVar[str] = "SBX251"
    name: str
    call: str
    abi: str
    reason: str
    registers: str

    def title(self) -> str:
        return f"`{self.name}` of `{self.call}` cannot be tested on {self.abi}: {self.reason}"

    def help(self) -> str | None:
        if self.registers:
            return f"test a register there: {self.registers}"
        return "put the rule into an `on ABI { ... }` block of the other ABIs"


class UnreadRegister(Diagnostic):
    """`argN` without a type means what the kernel reads there; of this register it reads nothing for this call.

    Right: `arg0` of a call with one argument.
    """

    code: ClassVar[str] = "SBX252"
    name: str
    call: str
    abi: str

    def title(self) -> str:
        return f"`{self.call}` reads nothing from `{self.name}` on {self.abi}"


class UnknownType(Diagnostic):
    """The type of a register is one of `u16`, `u32`, `s32`, `s64`, `u64`.

    Right: `arg0:u64 == 5`.
    """

    code: ClassVar[str] = "SBX253"
    name: str

    def title(self) -> str:
        return f"unknown type `{self.name}`"

    def help(self) -> str | None:
        return "types are `u16`, `u32`, `s32`, `s64` and `u64`"


class TypedName(Diagnostic):
    """Only `arg0` to `arg5` take a type; a named argument has that of the kernel's definition.

    Right: `flags has any CLONE_NEWUSER`, or `arg0:u64 == 5`.
    """

    code: ClassVar[str] = "SBX254"
    name: str

    def title(self) -> str:
        return f"the argument `{self.name}` has a type already"

    def help(self) -> str | None:
        return "only `arg0` to `arg5` take a type"


class OtherType(Diagnostic):
    """A type written for a register differs from what the kernel reads of it.

    A filter that compares more bits than the kernel reads can be passed by setting the others; one that compares
    fewer refuses calls that were not meant. Leave the type away to compare exactly what the kernel reads.
    """

    code: ClassVar[str] = "SBX255"
    severity: ClassVar[Severity] = Severity.LINT
    name: str
    type: str
    call: str
    read: str

    def title(self) -> str:
        return f"the kernel reads {self.read} from `{self.name}` of `{self.call}`, not `{self.type}`"


class ArgumentOrRegister(Diagnostic):
    """The kernel calls the arguments of some calls `arg2` and the like, and counts from one: `arg2` of `prctl` is its
    second, which is the register `arg1` here. So the bare word could mean either.

    Right: a place with a type, which is always the register: `deny EPERM prctl when option == PR_SET_PDEATHSIG and
    arg1:u64 != 0`.
    """

    code: ClassVar[str] = "SBX267"
    name: str
    call: str
    position: int | None
    place: int
    kernels: str | None
    register: str | None

    def title(self) -> str:
        return f"`{self.name}` of `{self.call}` has two meanings"

    def label(self) -> str:
        return f"the kernel's name for another argument than the one in place {self.place}"

    def help(self) -> str | None:
        ways = [f"`{self.kernels}` is what the kernel calls `{self.name}`"] if self.kernels else []
        ways += [f"`{self.register}` is the register in place {self.place}"] if self.register else []
        return f"write a place with its type: {', '.join(ways)}"

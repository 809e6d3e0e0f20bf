"""SBX256 to SBX269: values and bits in conditions."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Label
from sbc.diagnostics.span import Span


class ValueRange(Diagnostic):
    """A value must fit the bits that the kernel reads: from -2^(w-1) to 2^w - 1.

    A larger one could never be equal to them.
    """

    code: ClassVar[str] = "SBX256"
    value: int
    width: int
    argument: str

    def title(self) -> str:
        return f"{self.value} does not fit the {self.width} bits of `{self.argument}`"

    def help(self) -> str | None:
        return f"values go from -2^{self.width - 1} to 2^{self.width} - 1"


class SignedRange(Diagnostic):
    """An ordered comparison of a signed argument needs a value that is one of its type.

    As a signed number the kernel reads 0x80000000 as negative, so `>= 0x80000000` would not mean what it says.
    Right: `fd >= 0`, or `arg0:u32 >= 0x80000000`.
    """

    code: ClassVar[str] = "SBX257"
    value: int
    width: int
    argument: str

    def title(self) -> str:
        return f"`{self.argument}` is signed: no value of it reaches {self.value}"

    def help(self) -> str | None:
        largest, meant = (1 << (self.width - 1)) - 1, self.value - (1 << self.width)
        return f"its largest value is {largest}; the value's bits mean {meant}"


class InvertedRange(Diagnostic):
    """A range goes from the lower to the higher value, both ends in.

    Right: `prio in 1..99`.
    """

    code: ClassVar[str] = "SBX258"
    low: int
    high: int

    def title(self) -> str:
        return f"the range {self.low}..{self.high} is empty"

    def help(self) -> str | None:
        return "write the lower end first"


class NoBits(Diagnostic):
    """`has` tests bits; a value of 0 has none, so the test would say nothing about the argument.

    `O_RDONLY` is 0: it is told from the other modes by a mask. Right: `flags & O_ACCMODE == O_RDONLY`.
    """

    code: ClassVar[str] = "SBX259"
    subject: str
    value: str

    def title(self) -> str:
        return f"`{self.value}` is 0: it has no bits to test"

    def help(self) -> str | None:
        if self.value == "O_RDONLY":
            return f"write `{self.subject} & O_ACCMODE == O_RDONLY`"
        return f"write `{self.subject} == 0` for no bits at all"


class SeveralBits(Diagnostic):
    """`has any` holds where one of the bits is set; a constant of several bits is meant as a whole.

    `O_TMPFILE` includes `O_DIRECTORY`: `has any O_TMPFILE` would hold for each open of a directory.
    Right: `flags has all O_TMPFILE`.
    """

    code: ClassVar[str] = "SBX260"
    subject: str
    name: str
    value: int

    def title(self) -> str:
        return f"`{self.name}` has several bits: `has any` holds where one of them is set"

    def label(self) -> str:
        return f"{self.value:#x}"

    def help(self) -> str | None:
        return f"write `{self.subject} has all {self.name}`"


class OutsideMask(Diagnostic):
    """`X & MASK == V` can only hold where every bit of V is in MASK.

    Right: `flags & O_ACCMODE == O_WRONLY`.
    """

    code: ClassVar[str] = "SBX261"
    value: int
    mask: int

    def title(self) -> str:
        return f"the comparison never holds: {self.value:#x} has bits outside the mask {self.mask:#x}"


class EmptyMask(Diagnostic):
    """A mask of 0 leaves nothing to compare.

    Right: `flags & O_ACCMODE == O_WRONLY`.
    """

    code: ClassVar[str] = "SBX262"

    def title(self) -> str:
        return "the mask is 0"


class PointerTest(Diagnostic):
    """A pointer may only be compared with 0: what it points at is in user memory, which no filter can read.

    Right: `deny EPERM mount when data != 0`.
    """

    code: ClassVar[str] = "SBX263"
    name: str
    call: str

    def title(self) -> str:
        return f"`{self.name}` of `{self.call}` is a pointer: it may only be compared with 0"

    def help(self) -> str | None:
        return "what it points at cannot be seen by a filter"


class GroupAsValue(Diagnostic):
    """A comparison takes one value; a group holds several.

    Right: `family in @families`, `flags has any @new-namespaces`.
    """

    code: ClassVar[str] = "SBX264"
    subject: str
    name: str

    def title(self) -> str:
        return f"`@{self.name}` is a group, not one value"

    def help(self) -> str | None:
        return f"write `{self.subject} in @{self.name}`"


class EmptySet(Diagnostic):
    """A set or group in a condition must have at least one value."""

    code: ClassVar[str] = "SBX265"

    def title(self) -> str:
        return "the set has no values"


class SeveralBitsInGroup(Diagnostic):
    """A group under `has any` holds a constant of several bits: the test would hold where one of them is set.

    Test that constant apart: `flags has all O_TMPFILE or flags has any @others`.
    """

    code: ClassVar[str] = "SBX266"
    subject: str
    group: str
    name: str
    member: Span

    def title(self) -> str:
        return f"`{self.name}` of `@{self.group}` has several bits: `has any` holds where one of them is set"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.member, "the member"),)

    def help(self) -> str | None:
        return f"test it apart: `{self.subject} has all {self.name}`"

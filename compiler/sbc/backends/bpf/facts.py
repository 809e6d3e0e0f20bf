"""What is known before each instruction of a filter, whichever way it was reached: for people who read a listing.

Only what holds on every path is said: which word the accumulator holds, and which architecture and call number the
tests on the way have pinned. Nothing relies on it but comments.
"""

from typing import Literal, NamedTuple

from sbc_runtime import instruction as bpf
from sbc_runtime.instruction import Program

_LOAD = bpf.LD | bpf.W | bpf.ABS


class Field(NamedTuple):
    """A word of `struct seccomp_data`: its name; for half an argument, which one and whether it is the low half."""

    name: str
    arg: int | None = None
    low: bool = False

    @staticmethod
    def at(offset: int, byte_order: Literal["little", "big"]) -> "Field":
        """Give the word at an offset."""
        if offset < bpf.OFFSET_IP:
            return Field("nr" if offset == bpf.OFFSET_NR else "arch")
        low = (offset % 8 == 0) == (byte_order == "little")
        half = "lo" if low else "hi"
        if offset < bpf.OFFSET_ARGS:
            return Field(f"ip.{half}")
        arg = (offset - bpf.OFFSET_ARGS) // 8
        return Field(f"args[{arg}].{half}", arg, low)


class Fact(NamedTuple):
    """What holds before an instruction; None: not known. `whole`: A is the word itself, not masked."""

    a: Field | None = None
    whole: bool = False
    audit: int | None = None
    number: int | None = None


def facts_before(program: Program, byte_order: Literal["little", "big"]) -> list[Fact | None]:
    """Give what is known before each instruction of a verified program; None where nothing reaches it."""
    facts: list[Fact | None] = [None] * len(program)
    facts[0] = Fact()

    def reaches(index: int, fact: Fact) -> None:
        before = facts[index]
        facts[index] = fact if before is None else _common(before, fact)

    for index, (code, jt, jf, k) in enumerate(program):
        fact = facts[index]
        if fact is None or code & 7 == bpf.RET:
            continue
        if code & 7 == bpf.JMP:
            if code & 0xF0 == bpf.JA:
                reaches(index + 1 + k, fact)
            else:
                reaches(index + 1 + jt, _pinned(fact, k) if code == bpf.JMP | bpf.JEQ | bpf.K else fact)
                reaches(index + 1 + jf, fact)
        elif code == _LOAD:
            reaches(index + 1, fact._replace(a=Field.at(k, byte_order), whole=True))
        elif code == bpf.ALU | bpf.AND | bpf.K:
            reaches(index + 1, fact._replace(whole=False))
        elif code & 7 in (bpf.LD, bpf.ALU) or code == bpf.MISC | bpf.TXA:
            reaches(index + 1, fact._replace(a=None, whole=False))
        else:
            reaches(index + 1, fact)
    return facts


def _common(left: Fact, right: Fact) -> Fact:
    """Give what both know."""
    return Fact(
        left.a if left.a == right.a else None,
        left.whole and right.whole,
        left.audit if left.audit == right.audit else None,
        left.number if left.number == right.number else None,
    )


def _pinned(fact: Fact, k: int) -> Fact:
    """Give what is known once the accumulator is known to be `k`."""
    if fact.a is None or not fact.whole:
        return fact
    if fact.a.name == "arch":
        return fact._replace(audit=k)
    return fact._replace(number=k) if fact.a.name == "nr" else fact

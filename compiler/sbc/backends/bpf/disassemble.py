"""Lists a filter for people: labels, the names of words, calls, constants and errors, the policy beside each verdict.

One line for an instruction: its index, its label where something jumps to it, what it does, and after `;` what is
known about it. A test says where it goes: `-> L` where it holds, `else L` where not; what is not said is the next
instruction. Same program, same bytes.
"""

from sbc.backends.bpf.facts import Fact, Field, facts_before
from sbc.backends.bpf.names import Lines, Names, kernel_names
from sbc_runtime import instruction as bpf
from sbc_runtime.action import Action, Verdict
from sbc_runtime.arch import ARCHES, X32_BIT, Arch
from sbc_runtime.instruction import Program

_SYMBOLS = {bpf.JEQ: "jeq", bpf.JGT: "jgt", bpf.JGE: "jge", bpf.JSET: "jset"}
_OPERATIONS = {
    bpf.ADD: "add",
    bpf.SUB: "sub",
    bpf.MUL: "mul",
    bpf.DIV: "div",
    bpf.OR: "or",
    bpf.AND: "and",
    bpf.LSH: "lsh",
    bpf.RSH: "rsh",
    bpf.NEG: "neg",
    bpf.XOR: "xor",
}
_COMMENT_COLUMN = 46


def disassemble(program: Program, abi: str, names: Names | None = None, lines: Lines | None = None) -> str:
    """Give the listing of a verified program, which is read as one for `abi` where it does not ask for `arch` itself.

    `lines` has the policy's text for verdicts and calls.
    """
    listing = _Listing(program, ARCHES[abi], names or kernel_names(), lines or Lines())
    return "".join(listing.line(index) + "\n" for index in range(len(program)))


class _Listing:
    """One program with all that its lines need."""

    def __init__(self, program: Program, arch: Arch, names: Names, lines: Lines) -> None:
        self._program = program
        self._arch = arch
        self._names = names
        self._lines = lines
        self._facts = facts_before(program, arch.byte_order)
        targets = {target for index in range(len(program)) for target in self._jumps(index)}
        self._labels = {target: f"L{place}" for place, target in enumerate(sorted(targets), 1)}

    def _jumps(self, index: int) -> tuple[int, ...]:
        """Give where an instruction may jump to, other than the next instruction."""
        code, jt, jf, k = self._program[index]
        if code & 7 != bpf.JMP:
            return ()
        if code & 0xF0 == bpf.JA:
            return (index + 1 + k,)
        return tuple(index + 1 + distance for distance in (jt, jf) if distance)

    def line(self, index: int) -> str:
        """Give one line, without its end."""
        text, comment = self._text(index)
        label = f"{self._labels[index]}:" if index in self._labels else ""
        line = f"{index:4}  {label:6}{text}"
        return f"{line:<{_COMMENT_COLUMN}}; {comment}" if comment else line

    def _text(self, index: int) -> tuple[str, str]:
        """Give an instruction and what is known about it."""
        code, _, _, k = self._program[index]
        fact = self._facts[index]
        match code & 7:
            case bpf.LD | bpf.LDX:
                return self._load(code, k, fact)
            case bpf.ST | bpf.STX:
                return f"{'st' if code & 7 == bpf.ST else 'stx':4} mem[{k}]", ""
            case bpf.ALU:
                return self._operation(code, k), ""
            case bpf.JMP:
                return self._jump(index, fact)
            case bpf.RET:
                return self._return(code, k)
            case _:
                return ("txa" if code & 0xF8 == bpf.TXA else "tax"), ""

    def _load(self, code: int, k: int, fact: Fact | None) -> tuple[str, str]:
        register = "ld" if code & 7 == bpf.LD else "ldx"
        mode = code & 0xE0
        if mode == bpf.ABS:
            field = Field.at(k, self._arch.byte_order)
            argument = "" if field.arg is None else self._argument_name(fact, field.arg)
            return f"{register:4} {field.name}", argument
        what = f"mem[{k}]" if mode == bpf.MEM else "len" if mode == bpf.LEN else f"#{_number(k)}"
        return f"{register:4} {what}", ""

    def _operation(self, code: int, k: int) -> str:
        name = _OPERATIONS[code & 0xF0]
        if code & 0xF0 == bpf.NEG:
            return name
        return f"{name:4} {'x' if code & bpf.X else f'#{_number(k)}'}"

    def _jump(self, index: int, fact: Fact | None) -> tuple[str, str]:
        code, jt, jf, k = self._program[index]
        if code & 0xF0 == bpf.JA:
            return f"ja   {self._labels[index + 1 + k]}", ""
        then = f" -> {self._labels[index + 1 + jt]}" if jt else ""
        other = f" else {self._labels[index + 1 + jf]}" if jf else ""
        if code & bpf.X:
            return f"{_SYMBOLS[code & 0xF0]:4} x{then}{other}", ""
        shown, comment = self._compared(code & 0xF0, k, fact)
        return f"{_SYMBOLS[code & 0xF0]:4} #{shown}{then}{other}", comment

    def _compared(self, test: int, k: int, fact: Fact | None) -> tuple[str, str]:
        """Give a constant and what it means beside what the accumulator holds."""
        field = fact.a if fact is not None else None
        if fact is None or field is None:
            return _number(k), ""
        if field.name == "arch":
            return f"{k:#010x}", ", ".join(arch.name for arch in ARCHES.values() if arch.audit == k)
        audit = self._arch.audit if fact.audit is None else fact.audit
        if field.name == "nr":
            return self._number_compared(test, k, audit)
        if field.low and field.arg is not None and fact.number is not None and test in (bpf.JEQ, bpf.JSET):
            return _number(k), self._names.constant(audit, fact.number, field.arg, k) or ""
        return _number(k), ""

    def _number_compared(self, test: int, k: int, audit: int) -> tuple[str, str]:
        """Give a constant that is compared with `nr`, and the call it stands for."""
        if test == bpf.JSET:
            return f"{k:#x}", ""
        shown = str(k) if k < X32_BIT else f"{k:#x}"
        if k == X32_BIT and test == bpf.JGE:
            return shown, "x32 from here on" if audit == ARCHES["x32"].audit else ""
        parts = [self._names.call(audit, k) or ""]
        if test == bpf.JEQ:
            parts.append(self._lines.calls.get((audit, k), ""))
        return shown, "  ".join(part for part in parts if part)

    def _argument_name(self, fact: Fact | None, arg: int) -> str:
        if fact is None or fact.number is None:
            return ""
        audit = self._arch.audit if fact.audit is None else fact.audit
        return self._names.argument(audit, fact.number, arg) or ""

    def _return(self, code: int, k: int) -> tuple[str, str]:
        if code & 0x18 == bpf.A:
            return "ret  a", ""
        verdict = Verdict.of_ret(k)
        exact = "" if verdict.ret() == k else f"  ({k:#010x})"
        return f"ret  {self._verdict(verdict)}{exact}", self._lines.verdicts.get(verdict, "")

    def _verdict(self, verdict: Verdict) -> str:
        if verdict.action is Action.ERRNO:
            return f"errno {self._names.errno(self._arch.name, verdict.data) or verdict.data}"
        return f"{verdict.action.word} {verdict.data}" if verdict.data else verdict.action.word


def _number(value: int) -> str:
    return str(value) if value < 10 else f"{value:#x}"

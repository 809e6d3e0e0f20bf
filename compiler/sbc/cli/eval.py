"""`sbc eval`: run a filter on one call."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.filters import FilterError, read_filter
from sbc.cli.output import complain, print_json
from sbc.cli.verdicts import PASSING
from sbc_runtime.arch import ARCHES, LAST_NUMBER


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.bpf", type=Path, help="filter to run")
    parser.add_argument("--abi", required=True, choices=tuple(ARCHES), help="the ABI that the call enters by")
    parser.add_argument("number", metavar="NR", help="system call number, or name")
    parser.add_argument("args", metavar="ARG", nargs="*", help="up to six argument registers; missing ones are 0")
    parser.epilog = (
        "A number is `seccomp_data.nr` as it is: x32's carry bit 30. An argument is the whole 64-bit register;\n"
        "a negative one is sign-extended. Exit 0 where the call is carried out (allow, log), else 1.\n\n"
        "examples:\n  sbc eval build/agent-check/agent-check.x86_64.bpf --abi x86_64 socket 38 3 0\n"
        "  sbc eval F.bpf --abi i386 102 1 --json"
    )


def run(args: Namespace) -> int:
    """Print the verdict and the number of instructions that were executed."""
    from sbc.backends.bpf.interpreter import run as interpret
    from sbc.kernel.numbers import numbers
    from sbc_runtime.action import Verdict

    arch = ARCHES[args.abi]
    try:
        program = read_filter(args.file, arch.byte_order)
        number = numbers(args.abi).get(args.number)
        number = _integer(args.number, 32) if number is None else number
        if len(args.args) > 6:
            raise FilterError(f"a call has six arguments at most, not {len(args.args)}")
        values = tuple(_integer(text, 64) for text in args.args) + (0,) * (6 - len(args.args))
    except FilterError as error:
        complain(str(error), args)
        return WRONG
    result = interpret(program, arch.audit, number, values, byte_order=arch.byte_order)
    verdict = Verdict.of_ret(result.ret)
    if args.json:
        print_json({"action": verdict.action.word, "data": verdict.data, "steps": result.steps})
    else:
        data = f" {verdict.data}" if verdict.data else ""
        print(f"{verdict.action.word}{data} ({result.steps} instructions)")
    return FINE if verdict.action in PASSING else NO


def _integer(text: str, bits: int) -> int:
    """Read a number of `bits` bits; a negative one stands for its two's complement."""
    from sbc.analysis.explain.question import read_number

    value = read_number(text)
    if value is None:
        raise FilterError(f"`{text}` is neither a call of this ABI nor a number")
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise FilterError(f"`{text}` does not fit {bits} bits")
    return value & (LAST_NUMBER if bits == 32 else (1 << 64) - 1)

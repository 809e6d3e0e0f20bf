"""`sbc disasm`: list a filter with labels, names, and the policy's line beside each verdict."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from sbc.cli.exits import FINE, WRONG
from sbc.cli.filters import FilterError, abi_in_name, read_filter
from sbc.cli.output import complain, print_json
from sbc_runtime.arch import ARCHES


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.bpf", type=Path, help="filter to list")
    parser.add_argument("--abi", choices=tuple(ARCHES), help="the filter's ABI (default: what the file's name says)")
    parser.add_argument("--policy", metavar="FILE.sbx", type=Path, help="show this profile's lines beside the verdicts")
    parser.add_argument("--profile", metavar="P", help="which profile of that file")
    parser.epilog = (
        "examples:\n  sbc disasm build/agent-check/agent-check.x86_64.bpf\n"
        "  sbc disasm F.bpf --abi s390x --policy agent.sbx"
    )


def run(args: Namespace) -> int:
    """Print the listing."""
    from sbc.backends.bpf.disassemble import disassemble

    abi = args.abi or abi_in_name(args.file) or "x86_64"
    arch = ARCHES[abi]
    try:
        program = read_filter(args.file, arch.byte_order)
    except FilterError as error:
        complain(str(error), args)
        return WRONG
    text = disassemble(program, abi)
    if args.json:
        print_json({"abi": abi, "instructions": len(program), "listing": text.splitlines()})
    else:
        print(text, end="")
    return FINE

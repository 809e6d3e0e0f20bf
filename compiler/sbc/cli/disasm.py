"""`sbc disasm`: list a filter with labels, names, and the policy's line beside each verdict."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from sbc.backends.bpf.policy_lines import lines_of
from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.filters import FilterError, abi_in_name, abi_in_program, read_filter
from sbc.cli.output import complain, diagnostics_json, print_json, show
from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.pipeline import load_policy
from sbc.policy.syscalls import FilterPolicy
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import Program


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.bpf", type=Path, help="filter to list")
    parser.add_argument(
        "--abi", choices=tuple(ARCHES), help="the filter's ABI (default: what its name or its tests of `arch` say)"
    )
    parser.add_argument("--policy", metavar="FILE.sbx", type=Path, help="show this profile's lines beside the verdicts")
    parser.add_argument("--profile", metavar="P", help="which profile of that file")
    parser.epilog = (
        "examples:\n  sbc disasm build/agent-check/agent-check.x86_64.bpf\n"
        "  sbc disasm F.bpf --abi s390x --policy agent.sbx"
    )


def run(args: Namespace) -> int:
    """Print the listing; exit 1 where the filter does not decide as the profile that was named."""
    from sbc.backends.bpf.disassemble import disassemble

    status = FINE
    lines = None
    profile: Path | None = args.policy
    try:
        abi = args.abi or abi_in_name(args.file) or abi_in_program(args.file)
        program = read_filter(args.file, ARCHES[abi].byte_order)
        if profile is not None:
            policy = _policy(profile, args.profile, abi)
            lines = lines_of(policy)
            status = _compare(policy, program)
    except FilterError as error:
        complain(str(error), args)
        return WRONG
    except Failed as failure:
        show(failure.diagnostics, args, profile.parent if profile else "")
        if args.json:
            print_json({"diagnostics": diagnostics_json(failure.diagnostics)})
        return WRONG
    text = disassemble(program, abi, lines=lines)
    if args.json:
        proven = None if profile is None else status == FINE
        print_json({"abi": abi, "instructions": len(program), "listing": text.splitlines(), "proven": proven})
    else:
        print(text, end="")
    return status


def _policy(path: Path, profile: str | None, abi: str) -> FilterPolicy:
    """Give the policy of the profile's filter that serves an ABI."""
    policy = load_policy(path, profile, Reporter())
    for one in policy.syscalls.filters:
        if any(rules.arch.name == abi for rules in one.abis):
            return one
    raise FilterError(f"{path}: `{policy.name}` has no filter for {abi}")


def _compare(policy: FilterPolicy, program: Program) -> int:
    """Prove that the filter decides as the policy, or name a call on which it does not."""
    from sbc.decision.prove import Counterexample, prove
    from sbc.decision.table import TooComplex

    try:
        found = prove(policy, program)
    except TooComplex as error:
        raise FilterError(str(error)) from None
    if not isinstance(found, Counterexample):
        return FINE
    call = found.call or f"call {found.number}"
    words = [f"{v.action.word} {v.data}".removesuffix(" 0") for v in (found.got, found.expected)]
    print(
        f"sbc disasm: not this profile's filter: on `{call}` it gives {words[0]}, the policy {words[1]}",
        file=sys.stderr,
    )
    return NO

"""`sbc explain`: what a profile decides on a call, a path or a connection; what a diagnostic code means."""

import re
from argparse import ArgumentParser, Namespace
from pathlib import Path

from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.output import complain, diagnostics_json, print_json, show
from sbc.cli.verdicts import PASSING
from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.policy.policy import Policy
from sbc_runtime.arch import ARCHES

PATH_VERBS = ("read", "write", "exec")
NETWORK_VERBS = ("connect", "bind", "unix")


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("subject", metavar="FILE.sbx|CODE", help="a profile, or a code such as SBX203")
    parser.add_argument("question", nargs="*", metavar="QUESTION", help="a call, or a verb and what it is about")
    parser.add_argument("--profile", metavar="P", help="which profile of the file")
    parser.add_argument("--abi", choices=tuple(ARCHES), help="only this ABI (default: each that the profile lists)")
    parser.add_argument("--system", choices=("linux", "macos"), default="linux", help="for paths and connections")
    parser.epilog = (
        "Exit 0 where the answer is allow, 1 where it is not, 2 where the question is wrong.\n\n"
        "examples:\n  sbc explain profiles/agent-check.sbx 'socket(AF_ALG, SOCK_RAW, 0)'\n"
        "  sbc explain profiles/agent-check.sbx 'clone(flags=CLONE_NEWUSER)' --abi x86_64 --json\n"
        "  sbc explain profiles/agent-check.sbx write /work/x\n"
        "  sbc explain profiles/agent-check.sbx connect localhost:80\n  sbc explain SBX203"
    )


def run(args: Namespace) -> int:
    """Answer the question."""
    if not args.question:
        return _code(args)
    reporter = Reporter()
    from sbc.analysis.explain.question import QuestionError
    from sbc.pipeline import load_policy

    try:
        policy = load_policy(Path(args.subject), args.profile, reporter)
    except Failed as failure:
        show(failure.diagnostics, args, Path(args.subject).parent)
        if args.json:
            print_json({"diagnostics": diagnostics_json(failure.diagnostics)})
        return WRONG
    verb, *rest = args.question
    try:
        from sbc.analysis.explain.targets import on_targets
        from sbc.backends.coverage import coverage
        from sbc.pipeline import emit

        if verb in PATH_VERBS and len(rest) == 1:
            from sbc.analysis.explain.access import explain_path

            answer = explain_path(policy, verb, rest[0], args.system)
        elif verb in NETWORK_VERBS and len(rest) == 1:
            from sbc.analysis.explain.connection import explain_connection

            answer = explain_connection(policy, verb, rest[0], args.system)
        else:
            return _call(policy, " ".join(args.question), args)
    except QuestionError as error:
        complain(f"{error}{f': {error.help}' if error.help else ''}", args)
        return WRONG
    answer = on_targets(answer, coverage(policy, emit(policy, reporter)))
    if args.json:
        print_json(answer.json())
    else:
        print("\n".join(answer.lines()))
    return FINE if answer.allowed else NO


def _call(policy: Policy, text: str, args: Namespace) -> int:
    """Answer for a call: one object with `--abi` or where one ABI is listed, else a list."""
    from sbc.analysis.explain.call import explain_call

    answers = explain_call(policy, text, args.abi)
    if args.json:
        listed = [answer.json() for answer in answers]
        print_json(listed[0] if len(listed) == 1 else listed)
    else:
        print("\n".join(line for answer in answers for line in answer.lines()))
    outcomes = [outcome for answer in answers for outcome in answer.outcomes]
    if not outcomes:
        return NO
    return FINE if all(outcome.verdict.action in PASSING for outcome in outcomes) else NO


def _code(args: Namespace) -> int:
    """Explain a diagnostic code."""
    from sbc.diagnostics.catalogue import codes, explain

    code = args.subject.upper()
    text = explain(code)
    if text is None:
        if not re.fullmatch(r"SBX\d+", code):
            complain(f"ask something about `{args.subject}`, such as 'socket(AF_INET, SOCK_STREAM, 0)'", args)
        else:
            from sbc.diagnostics.suggest import closest

            near = closest(code, codes())
            complain(f"there is no code {code}{f'; did you mean {near}?' if near else ''}", args)
        return WRONG
    if args.json:
        print_json({"code": code, "severity": codes()[code].severity.value, "explanation": text})
    else:
        print(text)
    return FINE

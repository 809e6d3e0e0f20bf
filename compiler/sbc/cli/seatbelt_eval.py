"""`sbc seatbelt-eval`: what an SBPL profile decides on one operation."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.output import complain, diagnostics_json, print_json, show
from sbc.cli.sbpl_options import add_sbpl_options, pairs


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.sb", type=Path, help="profile to evaluate")
    parser.add_argument(
        "operation", metavar="OPERATION", help="operation of SBPL: file-read-data, network-outbound, ..."
    )
    parser.add_argument("target", metavar="TARGET", nargs="?", help="what it is done to; none, or `-`: nothing is said")
    add_sbpl_options(parser)
    parser.add_argument(
        "--attr",
        dest="attributes",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="what else is known, by the filter that looks at it: vnode-type=SYMLINK, xattr=..., extension=...",
    )
    parser.epilog = (
        "TARGET is the path that the kernel resolved (/private/tmp/x, never /tmp/x), `remote tcp 1.1.1.1:443`,\n"
        "`local tcp 127.0.0.1:80`, `unix /private/var/run/s`, a name, or `self`, `pgrp`, `children`, `same-sandbox`,\n"
        "`others`. No process holds an extension unless --attr says so. Where the answer depends on what is not said,\n"
        "or not known of macOS, there is none. Exit 0 allow, 1 deny, 2 the profile or the question is wrong.\n\n"
        "examples:\n  sbc seatbelt-eval gate.sb file-write-create /Users/u/wt/a -D worktree=/Users/u/wt\n"
        "  sbc seatbelt-eval p.sb network-outbound 'remote tcp 127.0.0.1:80' --json"
    )


def run(args: Namespace) -> int:
    """Print the decision and the rule that made it."""
    from sbc.diagnostics.diagnostic import Failed
    from sbc.seatbelt.decide import decide
    from sbc.seatbelt.load import load
    from sbc.seatbelt.question import unresolved

    try:
        params, attributes = pairs(args.params, "-D"), pairs(args.attributes, "--attr")
    except ValueError as wrong:
        complain(str(wrong), args)
        return WRONG
    try:
        answer = decide(load(args.file, params, args.import_folder), args.operation, args.target, attributes)
    except Failed as failed:
        show(failed.diagnostics, args, args.file.parent)
        if args.json:
            print_json({"diagnostics": diagnostics_json(failed.diagnostics)})
        return WRONG
    resolved = unresolved(args.target or "")
    if resolved:
        complain(f"note: the kernel never resolves a path to `{args.target}`: ask about `{resolved}`", _plainly(args))
    rule = answer.rule
    if args.json:
        place: dict[str, Any] | None = None
        if rule is not None:
            place = {"file": rule.at.source.name, "line": rule.at.line, "text": rule.at.text}
        print_json({"decision": answer.decision, "rule": place, "operation": answer.operation, "bare": answer.bare})
    else:
        print(answer.decision)
        print(
            f"  on {answer.operation}: {'no rule' if rule is None else 'a bare rule' if answer.bare else 'this rule'}"
        )
        if rule is not None:
            print(f"  {rule.at.source.name}:{rule.at.line}: {_short(rule.at.text)}")
        for modifier in answer.modifiers:
            leaves = ": the new program runs without this sandbox" if modifier.name == "no-sandbox" else ""
            print(f"  with {modifier.name}{leaves}")
    return FINE if answer.decision == "allow" else NO


def _short(text: str) -> str:
    from sbc.diagnostics.visible import visible

    line = " ".join(text.split())
    return visible(line if len(line) <= 100 else f"{line[:97]}...")


def _plainly(args: Namespace) -> Namespace:
    """Give the arguments without `--json`: what is said beside the result goes to stderr alone."""
    return Namespace(**{**vars(args), "json": False})

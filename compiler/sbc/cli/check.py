"""`sbc check`: parse, resolve, lint and prove; write nothing."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.output import diagnostics_json, print_json, progress, show, worst
from sbc.diagnostics.diagnostic import Failed, Reporter, Severity


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("files", nargs="+", metavar="FILE.sbx", type=Path, help="profile or library to check")
    parser.add_argument("--profile", metavar="P", help="only this profile of the files (default: all)")
    parser.epilog = (
        "Says for each filter: instructions, longest path, calls that the kernel allows without running it, proof.\n"
        "Exit 1 where there is a lint, 2 where there is an error.\n\n"
        "examples:\n  sbc check profiles/*.sbx\n  sbc check agent.sbx --json"
    )


def run(args: Namespace) -> int:
    """Check every file; the exit status is that of the worst."""
    status = FINE
    results: list[dict[str, Any]] = []
    for path in progress(args.files, "checking", args):
        reporter = Reporter()
        try:
            from sbc.pipeline import check_file

            summaries = check_file(path, None if args.profile is None else [args.profile], reporter)
        except Failed:
            summaries = ()
        show(reporter.diagnostics, args, path.parent)
        gravest = worst(reporter.diagnostics)
        status = max(status, WRONG if gravest is Severity.ERROR else NO if gravest is Severity.LINT else FINE)
        if args.json:
            results.append(
                {
                    "file": str(path),
                    "profiles": [summary.json() for summary in summaries],
                    "diagnostics": diagnostics_json(reporter.diagnostics),
                }
            )
        elif gravest is not Severity.ERROR:
            lines = [line for summary in summaries for line in summary.lines()]
            print("\n".join(lines or [f"{path}: no profile; its definitions are right"]))
    if args.json:
        print_json({"files": results})
    return status

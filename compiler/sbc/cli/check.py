"""`sbc check`: parse, resolve, lint and prove profiles, and lint SBPL; write nothing."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.output import complain, diagnostics_json, print_json, progress, show, worst
from sbc.cli.sbpl_options import add_sbpl_options, pairs
from sbc.diagnostics.diagnostic import Failed, Reporter, Severity

SBPL = (".sb", ".sbpl")
"""How files end that hold SBPL."""


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path, help="profile or library (.sbx), or SBPL (.sb)")
    parser.add_argument("--profile", metavar="P", help="only this profile of the .sbx files (default: all)")
    add_sbpl_options(parser)
    parser.epilog = (
        "Says for each filter: instructions, longest path, calls that the kernel allows without running it, proof.\n"
        "Of SBPL, whoever wrote it: denies that do not hold, rules and paths that match nothing.\n"
        "Exit 1 where there is a lint, 2 where there is an error.\n\n"
        "examples:\n  sbc check profiles/*.sbx\n  sbc check agent.sbx --json\n"
        "  sbc check other.sb -D HOME_DIR=/Users/me"
    )


def run(args: Namespace) -> int:
    """Check every file; the exit status is that of the worst."""
    sbpl = [path for path in args.files if path.suffix in SBPL]
    try:
        params = pairs(args.params, "-D")
        if not sbpl and (params or args.import_folder):
            raise ValueError("`-D` and `--import-folder` are for SBPL, and no file ends in `.sb`")
        if len(sbpl) == len(args.files) and args.profile is not None:
            raise ValueError("`--profile` is for .sbx files, and there is none")
    except ValueError as wrong:
        complain(str(wrong), args)
        return WRONG
    status = FINE
    results: list[dict[str, Any]] = []
    for path in progress(args.files, "checking", args):
        reporter = Reporter()
        checked = _sbpl(path, params, args, reporter) if path in sbpl else _profiles(path, args, reporter)
        show(reporter.diagnostics, args, path.parent)
        gravest = worst(reporter.diagnostics)
        status = max(status, WRONG if gravest is Severity.ERROR else NO if gravest is Severity.LINT else FINE)
        found, lines = checked
        if args.json:
            results.append({"file": str(path), **found, "diagnostics": diagnostics_json(reporter.diagnostics)})
        elif gravest is not Severity.ERROR:
            print("\n".join(lines))
    if args.json:
        print_json({"files": results})
    return status


_Checked = tuple[dict[str, Any], list[str]]
"""What was found, as data and as lines."""


def _profiles(path: Path, args: Namespace, reporter: Reporter) -> _Checked:
    try:
        from sbc.pipeline import check_file

        summaries = check_file(path, None if args.profile is None else [args.profile], reporter)
    except Failed:
        summaries = ()
    lines = [line for summary in summaries for line in summary.lines()]
    lines = lines or [f"{path}: no profile; its definitions are right"]
    return {"profiles": [summary.json() for summary in summaries]}, lines


def _sbpl(path: Path, params: dict[str, str], args: Namespace, reporter: Reporter) -> _Checked:
    from sbc.analysis.sbpl.lint import check_sbpl

    rules = check_sbpl(path, params, args.import_folder, reporter)
    lints = sum(one.severity is Severity.LINT for one in reporter.diagnostics)
    found = "no finding" if not lints else f"{lints} {'finding' if lints == 1 else 'findings'}"
    return {"rules": rules}, [f"{path}: {rules} {'rule' if rules == 1 else 'rules'}, {found}"]

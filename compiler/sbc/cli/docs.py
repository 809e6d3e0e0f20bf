"""`sbc docs`: tables of a profile for people, and whether a document is behind them."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.output import complain, diagnostics_json, fault, print_json, show
from sbc.diagnostics.diagnostic import Failed, Reporter


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.sbx", type=Path, help="profile to describe")
    parser.add_argument("--profile", metavar="P", help="which profile of the file")
    parser.add_argument("--format", choices=("md", "html"), default="md", help="what to print (default: md)")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--check", metavar="DOC", type=Path, help="exit 1, with the difference, where DOC is behind")
    group.add_argument("--update", metavar="DOC", type=Path, help="bring DOC up to date")
    parser.epilog = (
        "A document is one that this command printed, or holds generated regions: between the lines\n"
        "`<!-- sbc:begin PROFILE SECTION... -->` and `<!-- sbc:end -->` (sections: calls, files, coverage, ...).\n"
        "Any other document is left alone: exit 2.\n\n"
        "examples:\n  sbc docs profiles/agent-check.sbx --format html > agent-check.html\n"
        "  sbc docs profiles/agent-check.sbx --check README.md"
    )


def run(args: Namespace) -> int:
    """Print, check or update."""
    from sbc.backends.coverage import coverage
    from sbc.pipeline import emit, load_policy, report_of

    reporter = Reporter()
    try:
        policy = load_policy(args.file, args.profile, reporter)
        outcomes = emit(policy, reporter)
    except Failed as failure:
        show(failure.diagnostics, args, args.file.parent)
        if args.json:
            print_json({"diagnostics": diagnostics_json(failure.diagnostics)})
        return WRONG
    report = report_of(outcomes, coverage(policy, outcomes))
    if args.check is not None or args.update is not None:
        from sbc.backends.docs.check import DocumentError, behind, update
        from sbc.cli.rewrite import rewrite

        path: Path = args.check or args.update
        try:
            text = path.read_bytes().decode()  # as it is: line ends are kept
            difference = behind(text, policy, report, str(path))
            if args.update is not None and difference is not None:
                rewrite(path, update(text, policy, report))
        except OSError as error:
            may = "read" if args.update is None else "change"
            complain(fault(error, path, f"name a document that is there, and that you may {may}"), args)
            return WRONG
        except UnicodeDecodeError:
            complain(f"{path}: the document is not UTF-8 text; save it as such", args)
            return WRONG
        except DocumentError as error:
            complain(f"{path}: {error}", args)
            return WRONG
        if args.json:
            print_json({"document": str(path), "behind": difference is not None, "difference": difference})
        elif difference is not None and args.check is not None:
            print(difference, end="")
        elif difference is not None:
            print(f"updated {path}")
        return NO if difference is not None and args.check is not None else FINE
    from sbc.backends.docs import html, markdown
    from sbc.backends.docs.model import document

    made = document(policy, report)
    text = markdown.render(made) if args.format == "md" else html.render(made)
    if args.json:
        print_json({"profile": policy.name, "format": args.format, "text": text})
    else:
        print(text, end="")
    return FINE

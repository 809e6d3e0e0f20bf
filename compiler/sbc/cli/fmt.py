"""`sbc fmt`: format profiles in place, or tell which are not formatted."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.output import diagnostics_json, print_json, show
from sbc.diagnostics.diagnostic import Diagnostic, Reporter


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path, help="profile to format; `-` is standard input")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file is not formatted")
    parser.epilog = "examples:\n  sbc fmt profiles/*.sbx\n  sbc fmt --check profiles/*.sbx\n  sbc fmt - < a.sbx"


def run(args: Namespace) -> int:
    """Format each file; a file with a syntax error is left as it is."""
    results: list[dict[str, object]] = []
    status = FINE
    for path in args.files:
        text, formatted, diagnostics = _format(path)
        show(diagnostics, args)
        changed = formatted is not None and formatted != text
        if formatted is None:
            status = WRONG
        elif changed and args.check:
            status = max(status, NO)
        if formatted is not None and str(path) == "-" and not args.check and not args.json:
            sys.stdout.write(formatted)
        elif changed and not args.check and str(path) != "-":
            _replace(path, formatted or "")
        if changed and not args.json and str(path) != "-":
            print(f"{'not formatted' if args.check else 'formatted'}: {path}")
        results.append({"file": str(path), "changed": changed, "diagnostics": diagnostics_json(diagnostics)})
    if args.json:
        print_json({"files": results})
    return status


def _format(path: Path) -> tuple[str, str | None, tuple[Diagnostic, ...]]:
    from sbc.diagnostics.span import Source
    from sbc.syntax.formatter import format_source
    from sbc.syntax.parser import parse
    from sbc.syntax.reading import read_source

    reporter = Reporter()
    source = Source("<stdin>", sys.stdin.read()) if str(path) == "-" else read_source(path, str(path), reporter)
    if source is None or parse(source, reporter) is None or reporter.failed:
        return "", None, reporter.diagnostics
    return source.text, format_source(source.text), reporter.diagnostics


def _replace(path: Path, text: str) -> None:
    from sbc_runtime.atomic import write_files

    write_files(path.parent, {path.name: text.encode()})

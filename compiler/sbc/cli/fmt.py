"""`sbc fmt`: format profiles in place, or tell which are not formatted."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import BinaryIO

from sbc.cli.exits import FINE, NO, WRONG
from sbc.cli.output import diagnostics_json, fault, print_json, show
from sbc.cli.rewrite import rewrite
from sbc.diagnostics.diagnostic import Diagnostic, Reporter
from sbc.syntax.reading import MAX_BYTES


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
        standard = str(path) == "-"
        try:
            text, formatted, diagnostics = _format(path)
            changed = formatted is not None and formatted != text
            if formatted is not None and changed and not args.check and not standard:
                rewrite(path, formatted)
        except OSError as error:
            line = fault(error, path, "name a file that you may change")
            print(f"sbc fmt: {line}", file=sys.stderr)
            results.append({"file": str(path), "changed": False, "error": line})
            status = WRONG
            continue
        show(diagnostics, args)
        if formatted is None:
            status = WRONG
        elif changed and args.check:
            status = max(status, NO)
        if formatted is not None and standard and not args.check and not args.json:
            sys.stdout.write(formatted)
        if changed and not args.json and not standard:
            print(f"{'not formatted' if args.check else 'formatted'}: {path}")
        results.append({"file": str(path), "changed": changed, "diagnostics": diagnostics_json(diagnostics)})
    if args.json:
        print_json({"files": results})
    return status


def _format(path: Path) -> tuple[str, str | None, tuple[Diagnostic, ...]]:
    from sbc.syntax.formatter import format_source
    from sbc.syntax.parser import parse
    from sbc.syntax.reading import decode_source, read_source

    reporter = Reporter()
    if str(path) == "-":
        source = decode_source(_standard_input(), "<stdin>", reporter)
    else:
        source = read_source(path, str(path), reporter)
    if source is None or parse(source, reporter) is None or reporter.failed:
        return "", None, reporter.diagnostics
    return source.text, format_source(source.text), reporter.diagnostics


def _standard_input() -> bytes:
    """Read all of standard input, as bytes where it has them: they need not be text."""
    found: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read().encode() if found is None else found.read(MAX_BYTES + 1)

"""What commands print: diagnostics on stderr, results on stdout, JSON where it was asked for."""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sbc.diagnostics.diagnostic import Diagnostic, Severity


def wants_color(args: Namespace) -> bool:
    """Tell whether diagnostics are coloured: on a terminal without NO_COLOR, or as `--color` says."""
    if args.color == "auto":
        return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return bool(args.color == "always")


def show(diagnostics: Iterable[Diagnostic], args: Namespace, folder: Path | str = "") -> None:
    """Print diagnostics on stderr; with `--json` they are part of the result instead and nothing is printed here.

    `folder` is where the names of their sources start from.
    """
    shown = tuple(diagnostics)
    if not shown or args.json:
        return
    from sbc.diagnostics.render import render_all

    print(render_all(shown, colour=wants_color(args), folder=str(folder)), file=sys.stderr)


_T = TypeVar("_T")


def progress(items: Sequence[_T], what: str, args: Namespace) -> Iterator[_T]:
    """Go through many items with a progress bar on stderr, where that is a terminal."""
    if len(items) < 8 or args.json or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=what, console=Console(stderr=True), transient=True)


def diagnostics_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Give diagnostics in the form that `--json` prints."""
    from sbc.diagnostics.render import to_json

    return [to_json(diagnostic) for diagnostic in diagnostics]


def print_json(value: object) -> None:
    """Print a result as JSON."""
    print(json.dumps(value, indent=2))


def complain(message: str, args: Namespace) -> None:
    """Say in one line what is wrong with the call, on stderr (with `--json` also as the result)."""
    if args.json:
        print_json({"error": message})
    print(f"sbc {args.command}: {message}", file=sys.stderr)


def fault(error: OSError, subject: Path | str, advice: str = "") -> str:
    """Give the line for a file that cannot be read or written: which one, why, what to do.

    `subject`: which one, where the error names none.
    """
    named = error.filename if isinstance(error.filename, str) and error.filename else subject
    return f"{named}: {error.strerror or error}{advice and f'; {advice}'}"


def worst(diagnostics: Iterable[Diagnostic]) -> Severity | None:
    """Give the gravest severity among them, or None where there is none."""
    found = {diagnostic.severity for diagnostic in diagnostics}
    return next((severity for severity in Severity if severity in found), None)

"""Diagnostics -> text for people, and data for programs."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from sbc.diagnostics.diagnostic import Diagnostic, Label, Severity
from sbc.diagnostics.span import Source
from sbc.diagnostics.visible import Window, brief, visible

_Paint = Callable[[str, str], str]

_WIDTH = 110
"""A line of a source is shown up to about so many columns."""

_COLOURS = {Severity.ERROR: "1;31", Severity.LINT: "1;33", Severity.NOTE: "1;36"}
_FAINT = "1;34"


def render_all(diagnostics: Iterable[Diagnostic], *, colour: bool = False, folder: str = "") -> str:
    """Give all diagnostics as text, a blank line between two and a newline at the end; empty for none."""
    return "\n".join(render(diagnostic, colour=colour, folder=folder) + "\n" for diagnostic in diagnostics)


def render(diagnostic: Diagnostic, *, colour: bool = False, folder: str = "") -> str:
    """Give a diagnostic as text, without a newline at the end.

    Sources are named from `folder`, the profile's as its user wrote it. Nothing from a source reaches the terminal
    unescaped.
    """
    paint = _painted if colour else _plain
    main = _COLOURS[diagnostic.severity]
    head = f"{diagnostic.severity.value}[{diagnostic.code}]"
    lines = [f"{paint(head, main)}: {paint(visible(brief(diagnostic.title())), '1')}"]
    if diagnostic.span is not None:
        marks = [_Mark(Label(diagnostic.span, diagnostic.label()), "^", main)]
        marks += [_Mark(label, "-", _FAINT) for label in diagnostic.secondary()]
        gutter = max(len(str(mark.line)) for mark in marks)
        for number, (source, group) in enumerate(_by_source(marks)):
            arrow = paint("-->" if number == 0 else ":::", _FAINT)
            lines.append(f"{' ' * gutter}{arrow} {_name(source, folder)}:{group[0].line}:{group[0].start + 1}")
            lines += _snippet(source, group, gutter, paint)
        if diagnostic.help():
            lines.append(paint(f"{' ' * gutter} |", _FAINT))
    if advice := diagnostic.help():
        first, *others = map(brief, advice.split("\n"))
        lines.append(f"{paint('help', '1')}: {visible(first)}")
        lines += [f"      {visible(other)}".rstrip() for other in others]
    return "\n".join(lines)


class _Mark:
    """A label with the sign and the colour that it is drawn with."""

    def __init__(self, label: Label, sign: str, colour: str) -> None:
        self.source = label.span.source
        self.line, column = self.source.position(label.span.start)
        self.start = column - 1
        last, column = self.source.position(label.span.end)
        self.end = column - 1 if last == self.line else len(self.source.line_text(self.line))
        self.text = visible(brief(label.text))
        self.sign = sign
        self.colour = colour


def _by_source(marks: list[_Mark]) -> list[tuple[Source, list[_Mark]]]:
    """Group marks by source, the primary's first."""
    groups: list[tuple[Source, list[_Mark]]] = []
    for mark in marks:
        for source, group in groups:
            if source == mark.source:
                group.append(mark)
                break
        else:
            groups.append((mark.source, [mark]))
    return groups


def _name(source: Source, folder: str) -> str:
    """Give the name of a source as seen from a folder; stock ones have no place."""
    stock = source.name.startswith("<")
    return visible(source.name if stock else os.path.normpath(os.path.join(folder, source.name)))  # noqa: PTH118


def _snippet(source: Source, marks: list[_Mark], gutter: int, paint: _Paint) -> list[str]:
    """Show the lines of a source that have marks, in order."""
    blank = f"{' ' * gutter} |"
    lines = [paint(blank, _FAINT)]
    before = None
    for line in sorted({mark.line for mark in marks}):
        here = sorted((mark for mark in marks if mark.line == line), key=lambda mark: mark.sign != "^")
        window = Window(source, line, here[0].start, _WIDTH)
        if before is not None and line > before + 1:
            lines.append(paint("...", _FAINT))
        lines.append(f"{paint(f'{line:>{gutter}} |', _FAINT)} {window.shown}".rstrip())
        for mark in here:
            column, width = window.place(mark.start, mark.end)
            drawn = f"{mark.sign * width} {mark.text}".rstrip()
            lines.append(f"{paint(blank, _FAINT)} {' ' * column}{paint(drawn, mark.colour)}")
        before = line
    return lines


def _plain(text: str, _colour: str) -> str:
    return text


def _painted(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m"


def to_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """Give a diagnostic as data: lines and columns from 1, in characters; what is not known is null."""
    advice = diagnostic.help()
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "title": brief(diagnostic.title()),
        **(_range(Label(diagnostic.span, diagnostic.label())) if diagnostic.span else dict.fromkeys(_RANGE)),
        "secondary": [_range(label) for label in diagnostic.secondary()],
        "help": advice and "\n".join(map(brief, advice.split("\n"))),
    }


_RANGE = ("file", "line", "column", "end_line", "end_column", "label")


def _range(label: Label) -> dict[str, Any]:
    source = label.span.source
    line, column = source.position(label.span.start)
    end_line, end_column = source.position(label.span.end)
    return dict(zip(_RANGE, (source.name, line, column, end_line, end_column, brief(label.text) or None), strict=True))

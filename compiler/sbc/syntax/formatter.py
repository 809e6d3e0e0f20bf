"""Source text -> the same profile in the one way to lay it out.

Two blanks for each level, one between words, no more than one blank line, no comma in sets. What the author put on one
line stays on one where it fits 120 columns, what was broken stays broken; comments stay where they are, those behind
neighbouring lines in one column. The meaning stays the same, reasons included.
"""

from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.diagnostics.span import Source
from sbc.syntax.layout import Braces, Break, Line, Part, Statement, laid_out
from sbc.syntax.parser import parse_tokens
from sbc.syntax.reasons import is_reason, reason_above

WIDTH = 120
_INDENT = 2
_CONTINUED = 4


def format_source(text: str, name: str = "<text>") -> str:
    """Give a text of the language, laid out; `Failed` where it has errors."""
    reporter = Reporter()
    parsed = parse_tokens(Source(name, text), reporter)
    if parsed is None:
        raise Failed(reporter.diagnostics)
    lines = _Formatter(text).block(laid_out(text, parsed.tokens, parsed.blocks), 0)
    return "\n".join(lines) + "\n"


class _Formatter:
    """Lays out the lines of one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    # ---- blocks --------------------------------------------------------------------------------------------------

    def block(self, lines: list[Line], indent: int) -> list[str]:
        """Lay out statements."""
        found: list[str] = []
        run: list[tuple[int, str]] = []  # neighbouring lines with a comment behind them, by their index
        for line in lines:
            stands_alone = not line.content
            above = found[-1].lstrip() if found else ""
            loose = is_reason(above) and not stands_alone and not reason_above(self._text, line.start)
            if found and (line.gap or loose):
                found.append("")
            if stands_alone:
                found.append(" " * indent + line.comment)
                continue
            rows = self._row(line.content, indent)
            if line.comment:
                if not (run and run[-1][0] == len(found) - 1):
                    _align(found, run)
                    run = []
                if len(rows) == 1:
                    run.append((len(found), line.comment))
                else:
                    rows[-1] = _with_comment(rows[-1], line.comment)
            found += rows
        _align(found, run)
        return found

    def _row(self, statements: list[Statement], indent: int) -> list[str]:
        """Lay out the statements of one line: on one where they fit."""
        each = [self._statement(statement, indent) for statement in statements]
        joined = "; ".join(rows[0].lstrip() for rows in each)
        if all(len(rows) == 1 for rows in each) and indent + len(joined) <= WIDTH:
            return [" " * indent + joined]
        return [row for rows in each for row in rows]

    # ---- statements ----------------------------------------------------------------------------------------------

    def _statement(self, parts: Statement, indent: int) -> list[str]:
        """Lay out a statement, with as few of its braces broken as make it fit."""
        braces = [i for i, part in enumerate(parts) if isinstance(part, Braces)]
        forced = {i for i in braces if _must_break(parts[i])}
        rows: list[str] = []
        for wanted in (set[int](), set(braces[-1:]), set(braces)):
            rows = self._rows(parts, forced | wanted, indent)
            if all(len(row) <= WIDTH for row in rows):
                break
        return rows

    def _rows(self, parts: Statement, broken: set[int], indent: int) -> list[str]:
        """Lay out a statement with the braces at some places broken."""
        rows: list[str] = []
        row = " " * indent
        before: Part | None = None
        loose_colon = parts[0] == "param"
        for i, part in enumerate(parts):
            if isinstance(part, Break):
                rows.append(_with_comment(row, part.comment).rstrip())
                row = " " * (indent + _CONTINUED)
                before = None
                continue
            if before is not None and _apart(before, part, loose_colon=loose_colon):
                row += " "
            if isinstance(part, str):
                row += part
            elif i in broken:
                rows.append(_with_comment(row + "{", part.comment))
                rows += (self.block if part.block else self._set)(part.lines, indent + _INDENT)
                row = " " * indent + "}"
            else:
                row += self._flat(part)
            before = part
        return [*rows, row]

    def _flat(self, braces: Braces) -> str:
        """Lay out braces that are not broken, on one line."""
        separator = "; " if braces.block else " "
        inside = separator.join(
            self._rows(statement, set(), 0)[0] for line in braces.lines for statement in line.content
        )
        return f"{{ {inside} }}" if inside else "{ }"

    # ---- sets ----------------------------------------------------------------------------------------------------

    def _set(self, lines: list[Line], indent: int) -> list[str]:
        """Lay out the members of a set that is broken.

        The author's lines stay, but what does not fit on one goes on into the next.
        """
        found: list[str] = []
        row = ""
        for number, line in enumerate(lines):
            if line.gap and found:
                found.append("")
            overflows = False
            for member in line.content:
                first, *others = self._rows(member, set(), indent)
                if row and len(row) + 1 + len(first.lstrip()) > WIDTH:
                    found.append(row)
                    row = ""
                    overflows = True
                row = f"{row} {first.lstrip()}" if row else first
                if others:
                    found += [row, *others[:-1]]
                    row = others[-1]
            following = lines[number + 1] if number + 1 < len(lines) else None
            if overflows and not line.comment and following and following.content and not following.gap:
                continue
            found.append(_with_comment(row or " " * indent, line.comment))
            row = ""
        return found


def _must_break(part: Part) -> bool:
    """Say whether braces cannot stand on one line."""
    return isinstance(part, Braces) and part.broken


def _apart(before: Part, after: Part, *, loose_colon: bool) -> bool:
    """Say whether a blank stands between two parts."""
    if ".." in (before, after):
        return False
    if ":" in (before, after):
        return loose_colon
    return before != "(" and after not in (")", ",")


def _with_comment(row: str, comment: str) -> str:
    if not comment:
        return row
    return f"{row}  {comment}" if row.strip() else f"{row}{comment}"


def _align(rows: list[str], run: list[tuple[int, str]]) -> None:
    """Put the comments of neighbouring rows behind them, in one column."""
    column = max((len(rows[index]) for index, _ in run), default=0)
    for index, comment in run:
        rows[index] = f"{rows[index]:<{column}}  {comment}"

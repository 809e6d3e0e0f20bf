"""The document as Markdown (CommonMark with GFM's tables), written by hand: importing jinja2 would cost 80 ms.

Whatever a profile's author writes stays text: it cannot end a cell, open a tag or a link, or hide anything.
"""

import re

from sbc.backends.docs.blocks import Block, Bullets, Code, Document, Inline, Paragraph, Section, Subhead, Table

NOTICE = "<!-- Written by `sbc docs`. Change the profile, not this file. -->"

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_STRUCTURE = re.compile(r"[\\`*\[\]<>&|~$]|(?<![^\W_])_|_(?![^\W_])")
"""What means something inside a line; `_` only where no letter or digit stands on both sides."""

_AT_START = re.compile(r"^(?:(\d+)([.)])|([#+=-]))")
_PLAIN_CODE = re.compile(r"[^`\\|\s]+(?: [^`\\|\s]+)*")
_IN_HTML = re.compile(r"[^\w ]|_|^ | $|(?<= ) ")


def visible(text: str) -> str:
    """Spell out what would not be seen: controls, what turns the direction of text round, bytes that are not UTF-8."""
    return _UNSEEN.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number & 0xFF:02x}" if 0xDC80 <= number <= 0xDCFF else f"\\u{{{number:x}}}"


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def text(value: str) -> str:
    """Give text that renders as itself, inside a line of Markdown or a cell of a table."""
    # Entities where a backslash would not do: a cell ends at `\\|` for some readers.
    return _STRUCTURE.sub(lambda match: _entity(match) if match[0] in "|<>&`\\" else "\\" + match[0], visible(value))


def code(value: str, after_code: bool = False) -> str:
    """Give a code span that renders as itself; in HTML where backticks could not hold it, or would meet others."""
    shown = visible(value)
    if _PLAIN_CODE.fullmatch(shown) and not after_code:
        return f"`{shown}`"
    return f"<code>{_IN_HTML.sub(_entity, shown)}</code>"


def inline(content: Inline) -> str:
    """Give a line's content."""
    made = ""
    for piece in content:
        made += code(piece.text, made.endswith("`")) if isinstance(piece, Code) else text(piece.text)
    return made.strip()


def line(content: Inline) -> str:
    """Give content that begins a line: it must not read as a heading, a list or a rule."""
    return _AT_START.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else "\\" + match[3], inline(content))


def _table(table: Table) -> str:
    head = [text(name) for name in (*table.head, *([table.note] if table.note else []))]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for group in table.groups:
        note = [inline(group.note)] if table.note else []
        lines += [f"| {' | '.join([*(inline(cell) for cell in row), *note])} |" for row in group.rows]
    return "\n".join(lines)


def block(one: Block) -> str:
    """Give one block, without a newline at its end."""
    match one:
        case Paragraph(content=content):
            return line(content)
        case Subhead(content=content):
            return f"**{inline(content)}**"
        case Bullets(entries=entries):
            return "\n".join(f"- {line(item)}" for item in entries)
        case Table():
            return _table(one)


def section(one: Section, heading: bool = True) -> str:
    """Give one section, with its heading or without."""
    blocks = [block(found) for found in one.blocks] or ["None."]
    return "\n\n".join([f"## {text(one.title)}", *blocks] if heading else blocks) + "\n"


def render(document: Document) -> str:
    """Give the whole document."""
    lead = [line(document.lead)] if document.lead else []
    head = "\n\n".join([NOTICE, f"# {text(document.name)}", *lead]) + "\n"
    return "\n".join([head, *(section(one) for one in document.sections)])

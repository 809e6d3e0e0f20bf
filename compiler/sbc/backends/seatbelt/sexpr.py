"""SBPL as a tree, and its text: the only place where text of a profile is made.

A node is a word, a string, a number or a list. Strings are quoted here and nowhere else, so that no path can end one.
"""

from sbc.record import Record

MAX_TOKEN = 1024
"""Bytes of a string token, quotes included: macOS refuses longer ones."""

WIDTH = 100
"""Characters of a line; a longer list is written one item a line."""


class Word(Record):
    """A bare word: an operation, a form, a kind. Only words known here or checked by `check` are made into one."""

    text: str


class Text(Record):
    """A string, unquoted."""

    value: str


class List(Record):
    """A list in parentheses."""

    items: "tuple[Node, ...]"


Node = Word | Text | int | List


class UnquotableError(ValueError):
    """The string cannot stand in a profile; the message says why, in a few words."""


def form(head: str, *items: Node) -> List:
    """Give the list `(head items...)`."""
    return List((Word(head), *items))


def quoted(value: str) -> str:
    r"""Quote a string: the backslash first, then the double quote; nothing else has a meaning inside.

    A newline would be read as itself, and is refused all the same: no path that a person named holds one, and a line
    of the profile should be a line.
    """
    if "\0" in value:
        raise UnquotableError("it holds a NUL")
    if "\n" in value or "\r" in value:
        raise UnquotableError("it holds a line break")
    text = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise UnquotableError("it is not UTF-8") from None
    if size > MAX_TOKEN:
        raise UnquotableError(f"it is longer than {MAX_TOKEN} bytes")
    return text


def written(node: Node) -> str:
    """Give a node's text on one line."""
    match node:
        case Word(text=text):
            return text
        case Text(value=value):
            return quoted(value)
        case int():
            return str(node)
        case List(items=items):
            return f"({' '.join(written(item) for item in items)})"


def rule_text(action: str, operations: tuple[str, ...], filters: tuple[Node, ...]) -> str:
    """Give the text of a rule: on one line where it fits, else its operations wrapped and each filter on a line."""
    whole = written(List((Word(action), *(Word(name) for name in operations), *filters)))
    if len(whole) <= WIDTH:
        return whole
    lines = [f"({action}"]
    for name in operations:
        if len(lines[-1]) + 1 + len(name) > WIDTH:
            lines.append(f"    {name}")
        else:
            lines[-1] += f" {name}"
    lines += [f"  {written(one)}" for one in filters]
    return "\n".join(lines) + ")"


def comment(text: str) -> str:
    """Give a comment line; what could end the line, or is no text, is escaped."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return f"; {safe}"

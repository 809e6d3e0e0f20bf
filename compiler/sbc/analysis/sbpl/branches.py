"""How the text of a regular expression falls apart."""

from collections.abc import Iterator


def branches(pattern: str) -> list[str]:
    """Give the alternatives of an expression that stand in no group."""
    found, depth, start = [""][:0], 0, 0
    for at, sign in _outside_sets(pattern):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and depth == 0:
            found.append(pattern[start:at])
            start = at + 1
    return [*found, pattern[start:]]


def bare_dots(pattern: str) -> str:
    """Give the expression with each `.` quoted that stands before a letter or digit, and not first."""
    parts: list[str] = []
    last = 0
    for at, sign in _outside_sets(pattern):
        before, after = pattern[at - 1 : at], pattern[at + 1 : at + 2]
        if sign == "." and after.isalnum() and (before.isalnum() or (before and before in "/*+?])")):
            parts += (pattern[last:at], "\\")
            last = at
    return "".join((*parts, pattern[last:]))


def _outside_sets(pattern: str) -> Iterator[tuple[int, str]]:
    """Give each sign that is not quoted and in no set, and where it stands."""
    at, opened = 0, -1
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 2
            continue
        if opened >= 0:
            # A `]` that comes first is a member.
            if sign == "]" and pattern[opened + 1 : at] not in ("", "^"):
                opened = -1
        elif sign == "[":
            opened = at
        else:
            yield at, sign
        at += 1

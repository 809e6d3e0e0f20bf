"""The words for what the grammar names: no diagnostic ever shows a name of the grammar."""

import re
from typing import NamedTuple

from sbc.diagnostics.suggest import closest


class Statements(NamedTuple):
    """A list of statements: what one of them is called, and where the list stands."""

    role: str
    place: str


LISTS = {
    "_items{_top}": Statements("a statement of a file", "the top level of a file"),
    "_items{_profile_member}": Statements("a block of a profile", "`profile`"),
    "_items{_syscall_statement}": Statements("a statement of `syscalls`", "`syscalls` and `rules`"),
    "_items{_files_statement}": Statements("a statement of `files`", "`files`"),
    "_items{_proc_statement}": Statements("a statement of `proc`", "`proc`"),
    "_items{_network_statement}": Statements("a statement of `network`", "`network`"),
    "_items{_environment_statement}": Statements("a statement of `environment`", "`environment`"),
    "_items{_identity_statement}": Statements("a statement of `identity`", "`identity`"),
    "_items{_limits_statement}": Statements("a statement of `limits`", "`limits`"),
    "_items{_seatbelt_statement}": Statements("a statement of `seatbelt`", "`seatbelt`"),
    "_items{_filter}": Statements("a filter", "a `seatbelt` rule"),
}
"""By the symbol of the grammar. The order is the one in which a word is looked for elsewhere."""

PROFILE = "_items{_profile_member}"

THINGS = {
    "NAME": "a name",
    "GLOB": "a name",
    "GROUP": "a group",
    "NUMBER": "a number",
    "SIZE": "a size",
    "DURATION": "a time",
    "VERSION": "a version such as `6.12`",
    "HOST": "`localhost`",
    "PATH": "a path",
    "STRING": "a string",
    "PARAM": "a parameter",
    "STOCK": "`<name>` of a stock file",
}
"""What each terminal without a fixed text is; NEGATIVE goes without saying where NUMBER stands."""

GLOBS = {
    "_items{_syscall_statement}": "a system call",
    "_items{_seatbelt_statement}": "an operation",
}
"""What a GLOB is in some lists of statements."""

LISTING = frozenset({
    "allow", "deny", "kill-process", "kill-thread", "trap", "trace", "log", "notify",
    "read", "write", "hide", "read-only", "keep", "drop",
})  # fmt: skip
"""The words that begin a statement which can take a set."""

IDS = frozenset({"user", "group", "host-user", "host-group"})
"""The keys of `identity` whose value is a number."""

NAMED = {"profile": "profile", "extends": "profile", "param": "parameter", "set": "variable"}
"""The words after which a name stands, and of what."""

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "&"})

SPOKEN = {"newline": "the end of the line", "end": "the end of the file"}
"""What a token is called that has no text to show."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "ms", "s", "min", "h")
_OTHER_UNITS = {
    "k": "KiB", "kb": "KiB", "M": "MiB", "m": "min", "mb": "MiB", "g": "GiB", "gb": "GiB", "t": "TiB", "tb": "TiB",
    "sec": "s", "secs": "s", "seconds": "s", "mins": "min", "minutes": "min", "hours": "h", "hour": "h", "bytes": "B",
}  # fmt: skip


def unit_meant(word: str) -> str | None:
    """Give the size or time that a word such as `64kb` was meant to be."""
    match = re.fullmatch(r"([0-9]{1,20})([A-Za-z]+)", word)
    if not match:
        return None
    unit = _OTHER_UNITS.get(match[2]) or _OTHER_UNITS.get(match[2].lower()) or closest(match[2], _UNITS)
    return f"{int(match[1])}{unit}" if unit else None

"""Which settings an architecture turns on: the `select` lines of its Kconfig file.

Some entry points read their arguments in an order that a setting decides (`CLONE_BACKWARDS`, `OLD_SIGSUSPEND`, ...).
These have no prompt: an architecture has one because an entry of its Kconfig file selects it.
"""

import re
from pathlib import Path

from abis import Abi
from expect import expect

# What entry points depend on; nothing else of a Kconfig file is read.
READ = re.compile(r"(CLONE_BACKWARDS\d?|(COMPAT_)?OLD_SIG\w+)$")
ENTRY = re.compile(r"(?:menu)?config\s+(\w+)")
SELECT = re.compile(r"\s+select\s+(\w+)(?:\s+if\s+(\w+))?\s*(?:#.*)?")


def settings(tree: Path, abi: Abi) -> frozenset[str]:
    """The settings that the entries of `abi.symbols` select."""
    path = tree / "arch" / abi.folder / "Kconfig"
    return selected(path.read_text(), abi.symbols) if path.exists() else frozenset()


def selected(text: str, symbols: frozenset[str]) -> frozenset[str]:
    """The settings of `READ` that the entries called `symbols` select, with `CONFIG_` before each."""
    found: set[str] = set()
    entries: set[str] = set()
    entry = ""
    for line in text.splitlines():
        if opened := ENTRY.match(line):
            entry = opened[1]
            entries.add(entry)
        elif (words := line.split()) and words[0] == "select" and READ.match(words[1]):
            match = SELECT.fullmatch(line)
            expect(match is not None, line)
            if match and entry in symbols and (match[2] is None or match[2] in symbols):
                found.add(f"CONFIG_{words[1]}")
    return frozenset(found)

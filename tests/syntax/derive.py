"""Random texts that the grammar takes, made by following its rules: every construct of the language comes up."""

from functools import cache
from typing import Any

from hypothesis import HealthCheck
from hypothesis import strategies as st

from sbc.syntax.tables import grammar_text

_SAMPLES = {
    "NAME": ["socket", "AF_UNIX", "x86_64", "read", "size", "flags", "agent-check", "arg0"],
    "GLOB": ["ptrace", "io_uring_*", "LC_*", "file-read*", "allow", "*KEY*"],
    "NUMBER": ["0", "7", "0x1f", "0o17", "18446744073709551615"],
    "NEGATIVE": ["-1", "-0x80"],
    "SIZE": ["0B", "64KiB", "2GiB"],
    "DURATION": ["100ms", "10s", "5min", "1h"],
    "VERSION": ["6.12", "6.12.3"],
    "HOST": ["localhost", "10.0.0.1", "example.com"],
    "STRING": ['"/usr/bin"', '"~/a b"', r'"/a\n\"\\\$\x41\u{e9}"', '"/with # and { }"'],
    "PATH": ["/usr", "~/.ssh", "~", "${workdir}/a", "/a:b=c+d@e(f)"],
    "PARAM": ["${workdir}", "${a-b_1}"],
    "GROUP": ["@keyring", "@new-namespaces"],
    "STOCK": ["<groups>", "<a-b_1>"],
}
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
"""What hypothesis says of texts that take long to make, or are long."""

_NEWLINES = [
    "\n",
    "\n\n",
    "\n\n\n",
    " # c\n",
    "\n# c\n",
    "\n## why\n",
    "\n## why\n##  more\n",
    "\n## no\n\n",
    " ## x\n",
    "\r\n",
    "\n### c\n",
    "\n##\n",
    "\n\t# c\n\n  ## why\n",
]
_BLANKS = [" ", " ", " ", "  ", "\t"]
_DEPTH = 12


@cache
def _rules() -> dict[str, list[list[tuple[str, bool]]]]:
    """Give the ways to write each symbol: symbols, and whether each is a terminal; the shortest way first."""
    from lark import Lark

    found: dict[str, list[list[tuple[str, bool]]]] = {}
    for rule in Lark(grammar_text(), parser="lalr", maybe_placeholders=False).rules:
        found.setdefault(rule.origin.name, []).append([(symbol.name, symbol.is_term) for symbol in rule.expansion])
    return found


@cache
def _words() -> dict[str, str]:
    from lark import Lark

    lark = Lark(grammar_text(), parser="lalr", maybe_placeholders=False)
    return {terminal.name: terminal.pattern.value for terminal in lark.terminals if terminal.pattern.type == "str"}


@cache
def _heights() -> dict[str, int]:
    """Give how deep the shallowest derivation of each symbol is."""
    heights: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for name, ways in _rules().items():
            known = [way for way in (_height(way, heights) for way in ways) if way is not None]
            if known and min(known) + 1 < heights.get(name, 1 << 30):
                heights[name] = min(known) + 1
                changed = True
    return heights


def _height(way: list[tuple[str, bool]], heights: dict[str, int]) -> int | None:
    parts = [0 if terminal else heights.get(name) for name, terminal in way]
    return None if None in parts else max((part for part in parts if part is not None), default=0)


@st.composite
def texts(draw: st.DrawFn, top: int = 4) -> str:
    """Give a text of the language: `sbx 1`, then up to `top` statements."""
    pieces = [draw(st.sampled_from(["", "# c\n", "\n\n"])), "sbx 1"]
    parentheses = 0
    for _ in range(draw(st.integers(0, top))):
        pieces.append(draw(st.sampled_from([*_NEWLINES, "; "])))
        for terminal in _derive(draw, "_top", _DEPTH):
            parentheses += (terminal == "LPAR") - (terminal == "RPAR")
            if terminal == "_NL":
                pieces.append(draw(st.sampled_from(_NEWLINES)))
                continue
            blank = draw(st.sampled_from([*_BLANKS, *_NEWLINES] if parentheses and terminal != "LPAR" else _BLANKS))
            samples = _SAMPLES.get(terminal)
            pieces += [blank, draw(st.sampled_from(samples)) if samples else _words()[terminal]]
    pieces.append(draw(st.sampled_from(["", "\n", " # end", ";\n\n"])))
    return "".join(pieces)


def _derive(draw: st.DrawFn, symbol: str, depth: int) -> list[str]:
    ways = _rules()[symbol]
    heights = _heights()
    fitting = [way for way in ways if (height := _height(way, heights)) is not None and height < depth]
    way: Any = draw(st.sampled_from(fitting or [min(ways, key=lambda way: _height(way, heights) or 0)]))
    found: list[str] = []
    for name, terminal in way:
        found += [name] if terminal else _derive(draw, name, depth - 1)
    return found

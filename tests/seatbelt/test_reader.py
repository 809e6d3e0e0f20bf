"""The reader: what it takes, where it stops, and that text and data go both ways."""

from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.seatbelt.reader import read
from sbc.seatbelt.strings import Unreadable, unescaped
from sbc.seatbelt.values import NIL, Char, Pair, Symbol, Value, symbol
from tests.seatbelt.asking import place, refusal


def data(text: str) -> object:
    """Give what a text holds, as plain Python: lists, `'word` for words, strings in a tuple."""
    return plain(read(Source("t.sb", text)))


def plain(value: Value) -> object:
    if isinstance(value, Symbol):
        return f"'{value.name}"
    if isinstance(value, str):
        return ("string", value)
    if isinstance(value, Char):
        return ("char", value.code)
    if value is NIL:
        return []
    if isinstance(value, Pair):
        items: list[object] = []
        while isinstance(value, Pair):
            items.append(plain(value.car))
            value = value.cdr
        return items if value is NIL else [*items, ("tail", plain(value))]
    return value


_READ: list[tuple[str, object]] = [
    ("a ; b\n c #! d (\n e", ["'a", "'c", "'e"]),
    ('"a\\n\\t\\r\\"\\\\"', [("string", 'a\n\t\r"\\')]),
    ('"\\x41\\xe2\\x82\\xac"', [("string", "A€")]),
    ('"\\101\\7x\\0601"', [("string", "A\x07x01")]),
    ('"\\q\\/"', [("string", "q/")]),
    ('"a\nb"', [("string", "a\nb")]),
    (r'#"\.a\"', [("string", "\\.a\\")]),
    ("#t #f #o17 #d19 #x1F #b101 #x-a", [True, False, 15, 19, 31, 5, -10]),
    (r"#\a #\space #\newline #\x41 #\(", [("char", 97), ("char", 32), ("char", 10), ("char", 65), ("char", 40)]),
    (
        "'a `(b ,c ,@d)",
        [["'quote", "'a"], ["'quasiquote", ["'b", ["'unquote", "'c"], ["'unquote-splicing", "'d"]]]],
    ),
    ("(a . b) (a b . (c))", [["'a", ("tail", "'b")], ["'a", "'b", "'c"]]),
    ("12 -3 +4 1+ - file-read*", [12, -3, 4, "'1+", "'-", "'file-read*"]),
    ("()", [[]]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), _READ)
def test_what_is_read(text: str, expected: object) -> None:
    assert data(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("(a\n(b)\n", 1, 1),
        ("a\n )", 2, 2),
        ('(a "b\n', 1, 4),
        ('(a\n(b "c)\n"d)', 1, 1),
        ('x #"y', 1, 3),
        ("#| x |#", 1, 1),
        ("#q", 1, 1),
        ("#xg", 1, 1),
        (r"#\nowhere", 1, 1),
        (r"(string #\é)", 1, 9),
        ('"\\xg"', 1, 2),
        ('"\\400"', 1, 2),
        ('"\\0"', 1, 2),
        ("(a . )", 1, 4),
        ("( . a)", 1, 3),
        ("(a . b c)", 1, 8),
        ("'", 1, 1),
        ("(')", 1, 2),
        ("1.5", 1, 1),
        ("9223372036854775808", 1, 1),
        ('a"b', 1, 1),
        ('"' + "a" * 1023 + '"', 1, 1),
        ("(a\n " + '"' + "é" * 512 + '")', 2, 2),
        ("(" * 501, 1, 501),
    ],
)
def test_where_it_stops(text: str, line: int, column: int) -> None:
    assert place(text)[1:] == (line, column)


def test_the_longest_string() -> None:
    assert data('"' + "a" * 1022 + '"') == [("string", "a" * 1022)]
    assert "macOS" in (refusal('"' + "a" * 1023 + '"').help() or "")


class Searched(str):
    """Counts how many characters are searched."""

    searched = 0

    def find(self, sub: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None, /) -> int:
        found = super().find(sub, start, end)
        last = len(self) if end is None else int(end)
        self.searched += (found if found >= 0 else last) - int(start or 0)
        return found


@pytest.mark.parametrize("part", [r"\a", r"\"", "a"])
def test_a_long_string_takes_time_in_proportion(part: str) -> None:
    text = Searched('"' + part * 5000 + '"')
    with pytest.raises(Unreadable, match="longer than"):
        unescaped(text, 0)
    assert text.searched < 4 * len(text)


def test_every_datum_has_its_place() -> None:
    here = read(Source("t.sb", '(a\n  "b" (c\n 12))'))
    assert isinstance(here, Pair)
    inner = here.car
    places: list[str] = []
    while isinstance(inner, Pair):
        places.append(f"{inner.at.line}:{inner.at.column} {inner.at.text!r}")
        inner = inner.cdr
    assert places == ["1:2 'a'", "2:3 '\"b\"'", "2:7 '(c\\n 12)'"]


# ---- text and data go both ways --------------------------------------------------------------------------------------

_TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)
_WORDS = st.from_regex(r"[a-z*!?<=>/][a-z0-9*!?<=>/-]{0,10}", fullmatch=True)
_ATOMS = st.one_of(
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    _TEXTS.map(lambda text: ("string", text)),
    _WORDS.map(lambda word: f"'{word}"),
)
_DATA = st.recursive(_ATOMS, lambda inner: st.lists(inner, max_size=4), max_leaves=30)


def written(value: object) -> str:
    match value:
        case bool():
            return "#t" if value else "#f"
        case int():
            return str(value)
        case str():
            return value[1:]
        case ("string", str() as text):
            return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case list():
            items: list[object] = [*value]  # pyright: ignore[reportUnknownVariableType] (of an `object`)
            return f"({' '.join(map(written, items))})"
        case _:
            raise AssertionError(value)


@given(st.lists(_DATA, max_size=4))
def test_what_is_written_is_read_back(values: list[object]) -> None:
    assert data("\n".join(written(value) for value in values)) == values


@given(st.text(max_size=80) | st.text("()\"'`,.#\\;| ax0\n", max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        read(Source("t.sb", text))
    except Failed as failed:
        (one,) = failed.diagnostics
        assert one.span is not None
        assert 0 <= one.span.start <= one.span.end <= len(text)


def test_words_are_one() -> None:
    assert symbol("a") is symbol("a")

"""Whatever a profile's author writes stays text, in Markdown and in HTML."""

from hypothesis import example, given
from hypothesis import strategies as st

from sbc.backends.docs import html, markdown
from sbc.backends.docs.blocks import Bullets, Code, Document, Group, Paragraph, Section, Table, Text, prose
from tests.docs.reader import Seen, seen

HOSTILE = (
    "a | b",
    "`x` | `y",
    "``a`` b",
    "`a``b`",
    "<script>alert(1)</script>",
    "<!-- --> -->",
    "&lt;b&gt; &amp;",
    "\\| \\` \\\\",
    "*a* _b_ __c__ ~~d~~ [e](f) ![g](h) $i$",
    "a_b_c _d",
    "# heading",
    "1. one",
    "- item",
    "===",
    "+ x",
    "trailing\\",
    "\u202edrawkcab",
    "a\u200bb\x07\udcff",
    "][",
    "https://example.org/?a=1&b=2",
)
words = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(alphabet=st.sampled_from("ab1 `|\\<>&*_[]()#~$!-+=.:;\"'/{}\u202e\xa0é\n"), max_size=30),
    st.text(max_size=20),
)


def squeezed(text: str) -> str:
    return " ".join(text.split())


def shown(text: str) -> str:
    """What a reader sees of a piece of text of ours: spelled out, blanks as a browser shows them."""
    return squeezed(markdown.visible(text))


@given(words, words, words)
@example("a\\", "|", "`")
def test_a_cell_holds_its_text_and_no_more(first: str, second: str, reason: str) -> None:
    table = Table(("One", "Two"), (Group(prose(reason), (((Code(first),), (Text(squeezed(second)),)),)),), "Why")
    page = seen(markdown.block(table))
    assert [len(row) for row in page.rows] == [3, 3]
    cells = [squeezed(cell) for cell in page.rows[1]]
    assert cells[0] == shown(first)
    assert cells[1] == shown(squeezed(second))
    assert cells[2] == squeezed("".join(markdown.visible(piece.text) for piece in prose(reason)))
    assert set(page.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}


@given(words)
def test_a_code_span_is_one_code_span(text: str) -> None:
    page = seen("- x " + markdown.inline((Code(text), Code(text))))
    assert page.tags == ["ul", "li", "code", "code"]


@given(words, words)
def test_a_line_is_a_line(first: str, second: str) -> None:
    block = Bullets((prose(first) or (Text("x"),), (Text(squeezed(second)), Code("y"))))
    page = seen(markdown.block(block))
    assert page.tags.count("li") == 2
    assert set(page.tags) <= {"ul", "li", "code"}
    assert squeezed(page.items[1]) == squeezed(markdown.visible(squeezed(second)) + "y")


@given(words)
def test_a_paragraph_is_a_paragraph(text: str) -> None:
    page = seen(markdown.block(Paragraph((Text("."), *prose(text)))))
    assert page.tags[0] == "p"
    assert set(page.tags) <= {"p", "code"}
    alone = seen(markdown.block(Paragraph(prose(text))))
    assert set(alone.tags) <= {"p", "code"}


@given(words)
def test_a_page_has_only_its_own_tags(text: str) -> None:
    def page(value: str) -> Seen:
        table = Table(("A",), (Group(prose(value), (((Text(value), Code(value)),),)),), "Why")
        return Seen(html.render(Document(value or "x", prose(value), (Section("calls", "Calls", (table,)),))))

    hostile, plain = page(text), page("x `y`" if "`" in text else "x")
    assert set(hostile.tags) <= set(plain.tags) | {"code"}
    assert hostile.tags.count("tr") <= plain.tags.count("tr")
    assert "script" not in hostile.tags


def test_what_would_not_be_seen_is_spelled_out() -> None:
    assert markdown.visible("a\u202eb\x00c\udcff\ufeff") == "a\\u{202e}b\\u{0}c\\xff\\u{feff}"


def test_ordinary_text_stays_readable() -> None:
    assert markdown.text("Its flags (AF_UNIX, 3.5 MiB) live in memory: no.") == (
        "Its flags (AF_UNIX, 3.5 MiB) live in memory: no."
    )
    assert markdown.code("deny EPERM { a_b } <stock>:3") == "`deny EPERM { a_b } <stock>:3`"

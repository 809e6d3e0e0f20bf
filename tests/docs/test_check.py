"""Documents that are behind, and regions inside other documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc.backends.docs import html, markdown
from sbc.backends.docs.check import DocumentError, behind, update
from sbc.backends.docs.model import document
from sbc.backends.docs.report import Report
from sbc.policy.policy import Policy
from sbc.record import replaced
from tests.bundle.samples import policy

POLICY = policy()
WHOLE = markdown.render(document(POLICY, Report()))
README = """\
# Mine

Text | with ` things <b>.

<!-- sbc:begin sample limits -->
old
<!-- sbc:end -->

```
<!-- sbc:begin not a marker in code -->
```

<!-- sbc:begin other calls -->
theirs
<!-- sbc:end -->
<!-- sbc:begin sample network identity -->
<!-- sbc:end -->
the end, without a newline"""


def changed() -> Policy:
    return replaced(POLICY, limits=POLICY.limits[1:])


def test_a_whole_document_is_compared_as_a_whole() -> None:
    assert behind(WHOLE, POLICY) is None
    found = behind(WHOLE, changed(), name="sample.md")
    assert found is not None
    assert "--- sample.md\n+++ sample.md as `sbc docs` writes it\n" in found
    assert "-| wall | 10 min | by the clock |\n" in found
    assert update(f"{markdown.NOTICE}\n", POLICY) == WHOLE
    assert update(WHOLE.replace("\n", "\r\n"), POLICY) == WHOLE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no region"),
        ("anything at all", "no region"),
        ("# Mine\n\nLong work.\n", "no region"),
        ("<!doctype html>\n<title>Mine</title>\n", "no region"),
        (f" {markdown.NOTICE}\n", "no region"),
        (f"# Mine\n{markdown.NOTICE}\n", "no region"),
        (f"{markdown.NOTICE} and mine\n", "no region"),
        ("# Mine\n```\n<!-- sbc:begin sample limits -->\n<!-- sbc:end -->\n```\n", "line 3 stands in a code block"),
        ("~~~\n\n<!-- sbc:begin sample -->\n<!-- sbc:end -->\n", "line 3 stands in a code block"),
    ],
)
def test_a_document_of_somebody_else_is_never_replaced(text: str, words: str) -> None:
    for ask in (update, behind):
        with pytest.raises(DocumentError, match=words) as caught:
            ask(text, POLICY)
        assert caught.value.line is None


def test_a_page_stays_a_page() -> None:
    page = html.render(document(POLICY, Report()))
    assert page.startswith(html.BEGIN)
    assert behind(page, POLICY) is None
    assert update(page.replace("10 min", "9 min"), POLICY) == page


def test_regions_are_written_and_nothing_else() -> None:
    made = update(README, POLICY)
    assert behind(made, POLICY) is None
    assert update(made, POLICY) == made
    assert "old" not in made
    assert "| wall | 10 min | by the clock |" in made
    assert "## Limits" not in made
    assert "## Network" in made
    assert "## Identity" in made
    assert "\ntheirs\n" in made
    assert made.startswith(README[: README.index("old")])
    assert made.endswith("<!-- sbc:end -->\nthe end, without a newline")


def test_a_region_that_is_behind_is_shown() -> None:
    found = behind(update(README, POLICY), changed())
    assert found is not None
    lines = [line for line in found.splitlines() if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))]
    assert lines == ["-| wall | 10 min | by the clock |"]


def test_a_missing_last_newline_is_a_difference() -> None:
    assert behind(WHOLE.removesuffix("\n"), POLICY) is not None


def test_a_region_without_sections_holds_all() -> None:
    made = update("<!-- sbc:begin sample -->\n<!-- sbc:end -->\n", POLICY)
    assert WHOLE[WHOLE.index("## Filters") :] in made


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("<!-- sbc:begin sample calls -->\n", 1, "no `<!-- sbc:end -->`"),
        ("x\n<!-- sbc:end -->\n", 2, "did not begin"),
        ("<!-- sbc:begin sample -->\n<!-- sbc:begin sample -->\n", 2, "inside the one of line 1"),
        ("<!-- sbc:begin sample call -->\n<!-- sbc:end -->\n", 1, "no section `call`; there are summary"),
        ("<!-- sbc:begin -->\n", 1, "neither"),
        ("<!-- sbc:beginn sample -->\n", 1, "neither"),
        ("<!-- sbc:begin sample --> text\n", 1, "neither"),
        ("<!-- sbc:begin other calls -->\n<!-- sbc:end -->\n", 1, "no region is for `sample`"),
    ],
)
def test_wrong_markers_are_errors(text: str, line: int, words: str) -> None:
    with pytest.raises(DocumentError, match=words) as caught:
        update(text, POLICY)
    assert caught.value.line == line


@given(st.lists(st.sampled_from(("<!-- sbc:begin sample limits -->", "<!-- sbc:end -->", "text", "```", "\x0c", ""))))
def test_updating_twice_changes_nothing_more(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        once = update(text, POLICY)
    except DocumentError:
        return
    assert update(once, POLICY) == once
    assert behind(once, POLICY) is None


def test_line_ends_of_the_document_stay() -> None:
    made = update(README.replace("\n", "\r\n"), POLICY)
    assert made == update(README, POLICY).replace("\n", "\r\n")
    assert behind(made, POLICY) is None

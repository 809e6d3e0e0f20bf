"""What the lints of SBPL say of rules is what the evaluator answers without and with them."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from sbc.analysis.sbpl.lint import check_sbpl
from sbc.diagnostics.catalogue.sbpl_rules import SbplDenyShadowed, SbplRuleNeverDecides
from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load

HEAD = "(version 1)\n(allow default)\n"
OPERATIONS = ("file*", "file-read*", "file-read-data", "file-write*", "file-write-create")
FILTERS = (
    "",
    '(subpath "/a")',
    '(subpath "/a/b")',
    '(literal "/a/b")',
    '(literal "/A/b/c")',
    '(prefix "/a/b")',
    r'(regex #"^/a/b")',
    r'(regex #"/c$")',
    '(require-not (subpath "/a/b"))',
    '(require-all (subpath "/a") (require-not (literal "/a/b")))',
    '(require-any (literal "/a/b/c") (subpath "/d"))',
    '(require-all (prefix "/a") (extension "e"))',
    '(require-not (extension "e"))',
)
PATHS = ("/", "/a", "/a/b", "/a/b/c", "/a/bc", "/a/c", "/d", "/d/c", "/e", "/c")
HELD: tuple[dict[str, str], ...] = ({}, {"extension": "e"})


def written(action: str, operations: list[str], filters: list[str]) -> str:
    return f"({action} {' '.join(operations)} {' '.join(filters)})"


RULES = st.lists(
    st.builds(
        written,
        st.sampled_from(("allow", "deny")),
        st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=2, unique=True),
        st.lists(st.sampled_from(FILTERS), min_size=1, max_size=2, unique=True),
    ),
    min_size=2,
    max_size=7,
)


def answers(rules: list[str]) -> list[str]:
    loaded = load(Source("t.sb", HEAD + "\n".join(rules)))
    found: list[str] = []
    for operation, path, held in product(("file-read-data", "file-write-create", "file-write-data"), PATHS, HELD):
        try:
            found.append(decide(loaded, operation, path, held).decision)
        except Failed as failed:
            found.append(failed.diagnostics[0].code)
    return found


def findings(rules: list[str]) -> Reporter:
    reporter = Reporter()
    check_sbpl(Source("t.sb", HEAD + "\n".join(rules)), {}, None, reporter)
    return reporter


@given(RULES)
def test_without_a_rule_that_never_decides_all_is_the_same(rules: list[str]) -> None:
    for one in findings(rules).diagnostics:
        if isinstance(one, SbplRuleNeverDecides) and not one.operations and one.span and one.span.line > 2:
            at = one.span.line - 3
            assert answers(rules[:at] + rules[at + 1 :]) == answers(rules)


@given(RULES)
def test_what_a_shadowed_deny_leaves_open_is_open(rules: list[str]) -> None:
    loaded = load(Source("t.sb", HEAD + "\n".join(rules)))
    for one in findings(rules).diagnostics:
        if isinstance(one, SbplDenyShadowed) and one.witness.startswith("/"):
            answer = decide(loaded, one.operations[0], one.witness)
            assert answer.decision == "allow"
            assert answer.rule is not None
            assert answer.rule.at in one.by

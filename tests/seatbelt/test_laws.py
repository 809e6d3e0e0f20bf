"""Laws: a profile ends in rules or in our error; who wins agrees with a model of its own; gathering is exact."""

from contextlib import suppress
from typing import NamedTuple

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.macos.operations import PARENTS
from sbc.seatbelt.decide import answer, decide
from sbc.seatbelt.index import Entry
from sbc.seatbelt.index import asked as prepared
from sbc.seatbelt.load import load
from sbc.seatbelt.question import question
from sbc.seatbelt.rules import Rule
from sbc.seatbelt.verdict import Meter, any_of

# ---- a model of which rule wins, told in sets of paths ---------------------------------------------------------------

PATHS = ("/", "/a", "/a/b", "/a/b/c", "/ab", "/a/B", "/c")
OPERATIONS = ("default", "file*", "file-read*", "file-read-data", "file-write*", "file-write-data", "file-link")


class Said(NamedTuple):
    """A rule of the model: what it names, and the paths that it matches (None: bare)."""

    action: str
    operations: tuple[str, ...]
    kind: str
    path: str


def covers(said: Said, path: str) -> bool:
    mine, other = said.path.lower(), path.lower()
    if said.kind == "literal":
        return mine == other
    if said.kind == "prefix":
        return other[: len(mine)] == mine
    parts = [part for part in mine.split("/") if part]
    return [part for part in other.split("/") if part][: len(parts)] == parts


def model(rules: list[Said], operation: str, path: str) -> str:
    names = [operation]
    while names[-1] != "default":
        names.append(next(parent for child, parent in PARENTS.items() if child == names[-1] and parent))
    for name in names:
        mine = [rule for rule in rules if name in rule.operations]
        matching = [rule for rule in mine if rule.kind != "bare" and covers(rule, path)]
        bare = [rule for rule in mine if rule.kind == "bare"]
        if matching:
            return matching[-1].action
        if bare:
            return bare[-1].action
    return "deny"


def text_of(rules: list[Said]) -> str:
    def one(rule: Said) -> str:
        filters = "" if rule.kind == "bare" else f' ({rule.kind} "{rule.path}")'
        return f"({rule.action} {' '.join(rule.operations)}{filters})"

    return "(version 1)" + "\n".join(map(one, rules))


_RULES = st.lists(
    st.builds(
        Said,
        st.sampled_from(("allow", "deny")),
        st.lists(st.sampled_from(OPERATIONS[1:]), min_size=1, max_size=3).map(tuple),
        st.sampled_from(("bare", "literal", "subpath", "prefix")),
        st.sampled_from(PATHS),
    )
    | st.builds(Said, st.sampled_from(("allow", "deny")), st.just(("default",)), st.just("bare"), st.just("/")),
    max_size=8,
)


@given(_RULES, st.sampled_from(OPERATIONS), st.sampled_from(PATHS))
def test_who_wins_agrees_with_the_model(rules: list[Said], operation: str, path: str) -> None:
    assert decide(load(Source("t.sb", text_of(rules))), operation, path).decision == model(rules, operation, path)


@given(_RULES, st.integers(0, 8), st.sampled_from(OPERATIONS), st.sampled_from(PATHS))
def test_where_a_bare_rule_stands_does_not_matter(rules: list[Said], at: int, operation: str, path: str) -> None:
    bare = Said("deny", ("file-read*",), "bare", "/")
    others = [rule for rule in rules if rule.kind != "bare"]
    moved = [*others[:at], bare, *others[at:]]
    first = decide(load(Source("t.sb", text_of([bare, *others]))), operation, path).decision
    assert decide(load(Source("t.sb", text_of(moved))), operation, path).decision == first


# ---- gathering paths into sets changes nothing -----------------------------------------------------------------------

_KINDS = ("literal", "subpath", "prefix", "path-ancestors")
_OTHERS = ("(vnode-type DIRECTORY)", '(regex #"^/a")', '(regex #"^/[a-b]/.$")', '(extension "x")')


def _path_filter(kind: str, path: str) -> str:
    return f'({kind} "{path}")'


def _combined(name: str, parts: list[str]) -> str:
    return f"({name} {' '.join(parts)})"


def _opposite(one: str) -> str:
    return f"(require-not {one})"


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    names = st.sampled_from(("require-all", "require-any"))
    return st.builds(_combined, names, st.lists(inner, min_size=1, max_size=3)) | inner.map(_opposite)


_FILTERS = st.recursive(
    st.builds(_path_filter, st.sampled_from(_KINDS), st.sampled_from((*PATHS, "", "/a/", "/é", "${X}")))
    | st.sampled_from(_OTHERS),
    _larger,
    max_leaves=8,
)


def _rule(filters: list[str]) -> Rule:
    assume(all(not (one.startswith("(path-ancestors") and ("${" in one or '""' in one)) for one in filters))
    try:
        return load(Source("t.sb", f"(version 1)(allow file-read* {' '.join(filters)})")).rules[0]
    except Failed:
        assume(False)
        raise


@example(['(subpath "")'], "/a", None)
@example(['(literal "/a/")'], "/a", None)
@given(
    st.lists(_FILTERS, min_size=1, max_size=4),
    st.sampled_from((*PATHS, "/É", "/é/x")),
    st.sampled_from((None, "DIRECTORY", "SYMLINK")),
)
def test_gathering_is_exact(filters: list[str], path: str, vnode: str | None) -> None:
    rule = _rule(filters)
    asking = question("file-read-data", path, {"vnode-type": vnode} if vnode else {})
    plain = any_of(one.verdict(asking, Meter(100_000)) for one in rule.filters)
    gathered = Entry(rule).verdict(prepared(asking), Meter(100_000))
    assert (gathered is True, gathered is False) == (plain is True, plain is False)


@given(st.lists(_FILTERS, min_size=1, max_size=3), st.sampled_from(PATHS))
def test_an_answer_without_a_fact_holds_with_it(filters: list[str], path: str) -> None:
    """Where an answer is given although the kind of file is not said, it is the same for every kind."""
    rule = _rule(filters)
    profile = load(Source("t.sb", f"(version 1)(deny default)(allow file-read* {rule.at.text.split(' ', 2)[2]}"))
    try:
        without = answer(profile, question("file-read-data", path)).decision
    except Failed:
        return
    for vnode in ("DIRECTORY", "REGULAR-FILE"):
        assert answer(profile, question("file-read-data", path, {"vnode-type": vnode})).decision == without


# ---- nothing but our error -------------------------------------------------------------------------------------------

_WORDS = """
    version allow deny default file-read* file-write* literal subpath regex require-all require-any require-not with
    no-log message define lambda let let* letrec if cond case else => when unless and or begin quote quasiquote unquote
    unquote-splicing macro define-macro set! map for-each apply filter list cons car cdr append string-append param
    import trace debug defined? f x l rest . remote local ip tcp unix-socket target self mach-lookup global-name
    with-filter with-modifier with-operations path-ancestors vnode-type DIRECTORY + - * = string->number error
    substring string-ref list-tail equal? assoc reverse length _IO SIGKILL send-signal string number->string
"""
_DATA = ('"/a"', '#"^/a(b|c)*$"', '"localhost:*"', "1", "0", "-3", "#t", "#f", "()", "'a", "`(a ,x)", "'(1 2)")


def _listed(parts: list[str]) -> str:
    return f"({' '.join(parts)})"


def _lists(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, max_size=5).map(_listed)


_STRINGS = st.text(st.characters(exclude_characters='\0\\"'), max_size=6).map('"{}"'.format)
_TOKENS = st.sampled_from(_WORDS.split()) | st.sampled_from(_DATA) | _STRINGS
_FORMS = st.recursive(_TOKENS, _lists, max_leaves=25)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_FORMS, max_size=6), st.sampled_from(("/a", None)))
def test_any_profile_ends_in_rules_or_in_our_error(forms: list[str], target: str | None) -> None:
    source = Source("t.sb", "(version 1)" + "\n".join(forms))
    try:
        profile = load(source, {"X": "/x"})
        decide(profile, "file-read-data", target)
    except Failed as failed:
        (one,) = failed.diagnostics
        assert one.code.startswith("SBX44") or one.code == "SBX451"
        assert one.span is not None
        assert one.title()


@given(
    st.text(max_size=60), st.text(max_size=30), st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=2)
)
def test_any_question_is_answered_or_refused(operation: str, target: str, attributes: dict[str, str]) -> None:
    profile = load(Source("t.sb", '(version 1)(deny default)(allow file-read* (regex #"a+"))'))
    for name in (operation, "file-read-data", "mach-lookup", "network-outbound", "signal", "sysctl-read"):
        with suppress(Failed):
            decide(profile, name, target, attributes)

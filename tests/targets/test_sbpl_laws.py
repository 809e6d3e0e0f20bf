"""Laws of the emitted profile, for policies of any shape."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sbc.policy.filesystem import Access, PathRule
from sbc.policy.values import Param
from tests.targets.policies import (
    WORKTREE,
    files,
    network,
    policy,
    rule,
    sbpl,
    seatbelt,
    where,
)
from tests.targets.sbpl import Evaluator, Query
from tests.targets.test_sbpl_files import EXECS, OPENINGS, PARAMS, READS, WRITES, emitted

NAMES = st.sampled_from(["a", "b", "c", "d e", 'q"', "b\\", "ü", "x[1]", "a.b", "(", "${y}", "#;"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda parts: "".join(f"/{p}" for p in ("opt", *parts)))
BASES = st.sampled_from(["", "", "${worktree}", "${out}"])
ACCESSES: st.SearchStrategy[Access] = st.sampled_from(["read", "write", "hide"])


@st.composite
def rules(draw: st.DrawFn) -> tuple[PathRule, ...]:
    found: dict[str, PathRule] = {}
    for _ in range(draw(st.integers(0, 7))):
        path = draw(BASES) + draw(PATHS)
        found[path] = rule(draw(ACCESSES), path, noexec=draw(st.booleans()))
    return tuple(found.values())


def expected(listed: tuple[PathRule, ...], root: str, path: str) -> tuple[Access, bool]:
    """Give the access of a path by the contract: the most specific statement that covers it decides."""
    decided: tuple[Access, bool] = ("read" if root == "host" else "hide", False)
    deepest = (0, 0)
    for one in listed:
        spelled = (PARAMS[one.path.base] if one.path.base else "") + one.path.rest
        depth = (one.path.depth[0], len(spelled.split("/")))
        if (path == spelled or path.startswith(spelled + "/")) and depth > deepest:
            deepest = depth
            decided = (one.access, one.noexec)
    return decided


@settings(max_examples=150, deadline=None)
@given(
    rules(),
    st.sampled_from(["host", "private"]),
    st.sampled_from([None, "allow"]),
    st.sampled_from(["none", "host"]),
    st.lists(st.tuples(st.sampled_from(["allow", "deny"]), st.sampled_from(OPENINGS), st.booleans()), max_size=2),
)
def test_every_path_has_the_access_of_its_most_specific_statement(
    listed: tuple[PathRule, ...],
    root: str,
    default: str | None,
    net: str,
    block: list[tuple[str, str, bool]],
) -> None:
    statements = [sbpl(a, o, *((where("subpath", "/"),) if f else ())) for a, o, f in block if a == "allow"]  # type: ignore[arg-type]
    made = policy(
        files(*listed, root=root),  # type: ignore[arg-type]
        network(net),  # type: ignore[arg-type]
        params=(WORKTREE, Param("out", "dir")),
        block=seatbelt(default, *statements),  # type: ignore[arg-type]
    )
    run = Evaluator(emitted(made), PARAMS)
    spelled = [(PARAMS[one.path.base] if one.path.base else "") + one.path.rest for one in listed]
    asked = {path + end for path in spelled for end in ("", "/child", "x", "/child/below")}
    asked |= {path.rsplit("/", 1)[0] for path in spelled} | {"/Users/u/other", "/opt"}
    for path in asked - {""}:
        wanted, noexec = expected(listed, root, path)
        above_visible = any(p.startswith(path + "/") for p in spelled)
        above_protected = any(p.startswith(path + "/") or p == path for p in spelled)
        for name in READS:
            got = run.decide(Query(name, path))
            if wanted == "hide" and above_visible and name in ("file-read-metadata", "file-test-existence"):
                continue  # folders on the way to what is visible
            assert (got == "allow") == (wanted != "hide"), (path, name)
        for name in WRITES:
            if name == "file-write-unlink" and above_protected:
                continue
            assert (run.decide(Query(name, path)) == "allow") == (wanted == "write"), (path, name)
        for name in EXECS:
            assert (run.decide(Query(name, path)) == "allow") == (wanted != "hide" and not noexec), (path, name)
        if net == "host":
            reached = run.decide(Query("network-outbound", path)) == "allow"
            assert reached == (wanted != "hide"), path
            assert (run.decide(Query("network-bind", path)) == "allow") == (wanted == "write"), path


@settings(max_examples=60, deadline=None)
@given(rules(), st.randoms(use_true_random=False))
def test_the_text_does_not_depend_on_the_order_of_statements(listed: tuple[PathRule, ...], random: object) -> None:
    shuffled = list(listed)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    params = (WORKTREE, Param("out", "dir"))
    assert emitted(policy(files(*listed), params=params)) == emitted(policy(files(*shuffled), params=params))

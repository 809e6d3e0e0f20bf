"""The environment digest: its form, what changes it, and what does not."""

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc_runtime import environment_digest as module
from sbc_runtime.canonical import canonical
from sbc_runtime.environment_digest import Facts, environment_digest, facts_of
from sbc_runtime.outcome import Absent, LimitReport, Outcome, Protections, RunLoss, Stream, Timings, Usage
from sbc_runtime.plan import Path, PathRule
from tests.runtime.report_samples import ENVIRONMENT, FACTS, LOSS, PARAMS, RULES, bundle, outcome, rule

GOLDEN = (
    '{"absent":["${t}/node_modules"],"backend":"namespace","cgroup":false,"enforcement":"sha256:'
    + "a" * 64
    + '","environment":[["LANG","C"],["PATH","/usr/bin"]],"host_root":false,'
    '"limits":[["memory",1048576],["wall",1500]],'
    '"losses":[["wider","write ${t} noexec","cannot"]],"machine":"x86_64","network":"none","protections":{'
    '"capabilities":true,"cgroup_namespace":true,"ipc_namespace":true,"landlock":"unread","mount_namespace":true,'
    '"mounts":true,"network_namespace":true,"no_new_privs":true,"pid_namespace":true,"private_root":true,'
    '"proc_masks":true,"read_only_root":true,"rlimits":true,"seccomp":true,"user_namespace":true,"uts_namespace":true},'
    '"read_only":["${t}/.git","/opt/sdk-1","/usr","identity tools 5"],"system":"Linux","verified":true}'
)


def test_the_form_is_the_published_one() -> None:
    """Whoever changes it changes the number in the domain."""
    assert canonical(module._plain(FACTS)).decode() == GOLDEN  # pyright: ignore[reportPrivateUsage]
    assert module.DOMAIN == b"sbc environment 1\n"
    assert environment_digest(FACTS) == "sha256:9150a70652aa8bcee9d41cec3b0859474375b1c9c065c3e24c1afbdda7b5ba9f"


TEXTS = st.text(max_size=8)
STATES = st.sampled_from([True, False, None])
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=3, unique_by=lambda pair: pair[0]).map(
    lambda pairs: tuple(sorted(pairs))
)
SETS = st.lists(TEXTS, max_size=3, unique=True).map(lambda texts: tuple(sorted(texts)))
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "enforcement": TEXTS,
    "backend": TEXTS,
    "system": TEXTS,
    "machine": TEXTS,
    "verified": st.booleans(),
    "host_root": st.booleans(),
    "protections": st.builds(Protections, *[STATES] * len(Protections._fields)),
    "cgroup": st.booleans(),
    "limits": st.dictionaries(TEXTS, st.integers(0, 2**40), max_size=3).map(lambda found: tuple(sorted(found.items()))),
    "network": st.sampled_from(["none", "host"]),
    "environment": PAIRS,
    "read_only": SETS,
    "losses": st.lists(
        st.builds(RunLoss, st.sampled_from(["wider", "narrower"]), st.just("a:1"), TEXTS, TEXTS),
        max_size=2,
        unique=True,
    ).map(lambda found: tuple(sorted(found))),
    "absent": SETS,
}


def test_every_fact_has_a_strategy() -> None:
    assert set(FIELDS) == set(Facts._fields)


@given(st.sampled_from(sorted(FIELDS)), st.data())
def test_the_digest_changes_with_each_fact_and_only_then(name: str, data: st.DataObject) -> None:
    first, second = (data.draw(FIELDS[name]) for _ in range(2))
    one, two = FACTS._replace(**{name: first}), FACTS._replace(**{name: second})
    assert (environment_digest(one) == environment_digest(two)) == (first == second)


@given(st.sampled_from(Protections._fields), STATES, STATES)
def test_each_protection_counts_and_unread_is_a_state_of_its_own(
    name: str, first: bool | None, second: bool | None
) -> None:
    one, two = (FACTS._replace(protections=FACTS.protections._replace(**{name: state})) for state in (first, second))
    assert (environment_digest(one) == environment_digest(two)) == (first is second)


@given(st.permutations(ENVIRONMENT), st.permutations(FACTS.read_only), st.permutations(FACTS.limits))
def test_orders_mean_nothing(
    environment: list[tuple[str, str]], read_only: list[str], limits: list[tuple[str, int]]
) -> None:
    facts = FACTS._replace(environment=tuple(environment), read_only=tuple(read_only), limits=tuple(limits))
    assert environment_digest(facts) == environment_digest(FACTS)


Rules = tuple[PathRule, ...]
Pairs = tuple[tuple[str, str], ...]


def digest_of(
    made: Outcome, params: dict[str, str | int] = PARAMS, rules: Rules = RULES, environment: Pairs = ENVIRONMENT
) -> str:
    facts = facts_of(made, bundle(rules), params, environment)
    assert facts is not None
    return environment_digest(facts)


def test_the_facts_of_a_run() -> None:
    uname = os.uname()
    assert facts_of(outcome(), bundle(), PARAMS, ENVIRONMENT) == FACTS._replace(
        system=uname.sysname, machine=uname.machine
    )


def test_no_sandbox_has_no_environment() -> None:
    assert facts_of(outcome()._replace(isolation=None), bundle(), PARAMS, ENVIRONMENT) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"run_id": "9999"},
        {"notes": ("another",)},
        {"kind": "timed-out", "code": 124, "status": None, "by": "sandbox"},
        {"stdout": Stream(b"else", 4, True)},
        {"usage": Usage()},
        {"timings": Timings(9, 9, 9, 9)},
        {"covered": ()},
        {"losses": (LOSS._replace(where="a.sbx:99"),)},
        {"limits": (LimitReport("memory", 1 << 20, ("cgroup",)), LimitReport("wall", 1500, ("none",), "how"))},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_is_no_part_of_the_environment_does_not_count(changed: dict[str, Any]) -> None:
    assert digest_of(outcome()._replace(**changed)) == digest_of(outcome())


def test_where_the_tree_lies_does_not_count() -> None:
    moved = outcome()._replace(absent=(Absent("a.sbx:6", "read", "/trees/two/node_modules", True, False),))
    assert digest_of(moved, {**PARAMS, "t": "/trees/two"}) == digest_of(outcome())


def test_where_a_tool_lies_counts_unless_it_has_an_identity() -> None:
    assert digest_of(outcome(), {**PARAMS, "sdk": "/opt/sdk-2"}) != digest_of(outcome())
    moved = tuple(one if one.identity is None else one._replace(path=Path(None, "/opt/elsewhere")) for one in RULES)
    assert digest_of(outcome(), rules=moved) == digest_of(outcome())
    renamed = tuple(one if one.identity is None else one._replace(identity="tools 6") for one in RULES)
    assert digest_of(outcome(), rules=renamed) != digest_of(outcome())


def test_an_identity_is_never_taken_for_a_path() -> None:
    path, named = rule("read", Path(None, "/x"), 1), rule("read", Path(None, "/y"), 1, "/x")
    assert digest_of(outcome(), rules=(path,)) != digest_of(outcome(), rules=(named,))


@pytest.mark.parametrize("environment", [(("PATH", "/bin"), ("LANG", "C")), (("PATH", "/usr/bin"),), ()])
def test_values_of_variables_count(environment: tuple[tuple[str, str], ...]) -> None:
    assert digest_of(outcome(), environment=environment) != digest_of(outcome())


def test_a_path_that_was_there_is_another_environment() -> None:
    assert digest_of(outcome()._replace(absent=())) != digest_of(outcome())
    assert digest_of(outcome()._replace(cgroup="/sys/fs/cgroup/x")) != digest_of(outcome())

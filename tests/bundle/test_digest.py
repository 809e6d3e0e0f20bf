"""The enforcement digest: every input changes it, and nothing else does."""

from hashlib import sha256
from typing import cast

import pytest

from sbc_runtime.contents import Bundle, Coverage, Sbpl
from sbc_runtime.digest import enforced, enforcement_digest
from sbc_runtime.plan import Path, Plan, Statement
from sbc_runtime.plan_codec import PLAN
from tests.bundle.changes import Change, again, remove, update
from tests.bundle.samples import made

BASE = made()
DIGEST = enforcement_digest(BASE, "x86_64")
OTHER = Statement("files", "other.sbx", 99, "something else", "another reason")


def plan(change: Change) -> Bundle:
    """The sample with its plan changed, as JSON."""
    value = PLAN.write(BASE.plan)
    change(value)
    return BASE._replace(plan=PLAN.read(value, "plan"))


def with_program(index: int) -> Bundle:
    """The sample with one bit of one filter's last return changed."""
    assert BASE.filters is not None
    one = BASE.filters[index]
    program = bytearray(one.program)
    program[-3] ^= 1
    new = one._replace(program=bytes(program), sha256=sha256(program).hexdigest())
    return BASE._replace(filters=(*BASE.filters[:index], new, *BASE.filters[index + 1 :]))


LISTS = ("rules", "tmps", "devices", "roots", "start_in", "proc", "identity", "limits")


@pytest.mark.parametrize(
    "bundle",
    [
        with_program(0),
        BASE._replace(filters=None),
        BASE._replace(params=BASE.params[:-1]),
        BASE._replace(params=(*BASE.params[:-1], BASE.params[-1]._replace(default="other"))),
        *(plan(remove(f"{name} 0")) for name in LISTS),
        plan(update("rules 0", access="hide")),
        plan(update("rules 0", optional=False)),
        plan(update("rules 0", noexec=True)),
        plan(update("rules 0", place={"base": None, "rest": "/x"})),
        plan(update("rules 0 path", rest="/x")),
        plan(update("rules 0 path", base="home")),
        plan(update("rules 0", identity="x")),
        plan(update("tmps 0", size=1)),
        plan(update("tmps 0", inodes=None)),
        plan(update("tmps 0", noexec=False)),
        plan(update("tmps 0 path", rest="/x")),
        plan(update("roots 0", kind="host")),
        plan(update("devices 0", kind="none")),
        plan(update("start_in 0", path=None)),
        plan(update("proc 0", access="hide")),
        plan(update("proc 0", entry="bus")),
        plan(update("network", mode="none")),
        plan(update("network", listed=False)),
        plan(remove("network allowances 1")),
        plan(update("network allowances 0", port=None)),
        plan(update("network allowances 0", verb="bind")),
        plan(remove("environment patterns 1")),
        plan(update("environment patterns 0", verb="drop")),
        plan(update("environment patterns 0", pattern="L*")),
        plan(update("environment variables 0", value="/bin")),
        plan(update("environment variables 0", name="X")),
        plan(update("identity 0", value=1)),
        plan(update("identity 1 value", last=60001)),
        plan(update("limits 0", value=1)),
        plan(update("limits 0", key="cpu")),
        plan(update("limits 0", value={"param": "t"})),
        plan(update("", containment=[{"kind": "required", "on": None, "statement": OTHER._asdict()}])),
    ],
)
def test_each_input_changes_it(bundle: Bundle) -> None:
    assert enforcement_digest(bundle, "x86_64") != DIGEST


def restated(value: object) -> object:
    """Another statement everywhere, every list turned round."""
    if isinstance(value, list):
        return [restated(item) for item in reversed(cast("list[object]", value))]
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {key: OTHER._asdict() if key == "statement" else restated(item) for key, item in members.items()}
    return value


@pytest.mark.parametrize(
    "bundle",
    [
        BASE._replace(docs="", notes=(), losses=(), coverage=Coverage((), ()), sources=(), compiler="9"),
        BASE._replace(profile="renamed", sbpl=Sbpl("(version 1)", None)),
        BASE._replace(plan=PLAN.read(restated(PLAN.write(BASE.plan)), "plan")),
        with_program(1),
        plan(again("rules 0", on="macos")),
    ],
)
def test_nothing_else_changes_it(bundle: Bundle) -> None:
    assert enforcement_digest(bundle, "x86_64") == DIGEST


def moved(source: Plan, rest: str) -> Plan:
    rules = (rule._replace(path=Path(None, rest)) if rule.identity else rule for rule in source.rules)
    return source._replace(rules=tuple(rules))


def test_an_identity_stands_for_the_path() -> None:
    assert enforcement_digest(BASE._replace(plan=moved(BASE.plan, "/else/where")), "x86_64") == DIGEST


def test_abi_and_system_change_it() -> None:
    digests = [enforcement_digest(BASE, abi) for abi in ("x86_64", "i386", "aarch64")]
    digests.append(enforcement_digest(BASE, None, "macos"))
    assert len(set(digests)) == 4


def test_an_abi_without_a_filter_has_none() -> None:
    with pytest.raises(KeyError, match="riscv64"):
        enforcement_digest(BASE, "riscv64")


def macos(text: str) -> str:
    return enforcement_digest(BASE._replace(sbpl=Sbpl(text, None)), None, "macos")


def test_comments_of_sbpl_do_not_count() -> None:
    plain = macos('(version 1)\n(deny file-read* (literal "/a;  b"))\n')
    assert macos('; line 3\n(version 1) ; more\n\n  (deny file-read* (literal "/a;  b"))') == plain
    assert macos('(version 1)\n(deny file-read* (literal "/a; b"))\n') != plain


def test_golden_form() -> None:
    """What enters the digest, spelled out for a plan with one entry: a changed format shows here."""
    empty = BASE.plan._replace(
        rules=(), tmps=(), devices=(), start_in=(), proc=(), identity=(), limits=BASE.plan.limits[:1]
    )
    empty = empty._replace(
        network=empty.network._replace(allowances=()), environment=empty.environment._replace(patterns=(), variables=())
    )
    bundle = BASE._replace(filters=None, plan=empty, params=BASE.params[:1])
    assert enforced(bundle, "x86_64") == {
        "system": "linux",
        "filter": None,
        "sbpl": None,
        "plan": {
            "roots": [{"kind": "private"}],
            "rules": [],
            "tmps": [],
            "devices": [],
            "start_in": [],
            "proc": [],
            "network": {"mode": "host", "listed": True, "allowances": []},
            "environment": {"patterns": [], "variables": []},
            "identity": [],
            "limits": [{"key": "wall", "value": 600000}],
            "containment": [],
        },
        "params": [["workdir", "dir", None]],
    }
    assert (
        enforcement_digest(bundle, "x86_64")
        == "sha256:6bff37b8f6b56a790a8c4149d7439f5a9a33d307f657baa3239e046c514b3cba"
    )

"""The bars that do not depend on the machine's speed, and that the benchmark itself runs."""

import shutil
import tempfile
from pathlib import Path

import pytest

import sbc_runtime
from sbc.backends.bpf.generate import generate
from sbc.backends.bpf.target import build
from sbc.decision.prove import Proof, prove
from tests.bench.figures import REFERENCES, Reference, Row, differences, many_rules, sizes
from tests.bench.peers import libseccomp
from tests.bench.policies import load_policy
from tests.bench.runs import bundle, tree
from tests.bench.same_mounts import both
from tests.shared_data import shared

BEST = {"denylist": 52, "docker-default": 56}


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda reference: reference.name)
def test_size_and_constant_calls(reference: Reference) -> None:
    report = build(load_policy(shared("bench", f"policy-{reference.name}.json"))).report()
    assert report.instructions <= BEST[reference.name] <= reference.instructions
    assert report.const_allow == (("x86_64", reference.constant),)


def test_every_bar_is_met() -> None:
    shared("bench", "compare.py")
    rows: list[Row] = [*sizes(), *differences()]
    assert len(rows) == 8
    assert not [row for row in rows if row.met is False]


def test_many_rules_fit_one_filter() -> None:
    policy = many_rules(400, 40)
    assert isinstance(prove(policy, generate(policy)), Proof)
    assert len(generate(many_rules())) <= 4096


def test_libseccomp_makes_what_is_stored() -> None:
    make = libseccomp(shared("bench", "policy-docker-default.json"))
    if make is None:
        pytest.skip("this machine has no libseccomp")
    program, seconds = make()
    assert len(program) > 200
    assert seconds > 0


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_the_peer_makes_the_mounts_that_we_make() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        mine, others = both(sbc_runtime.load(bundle(folder)), tree(folder))
    assert len(mine) > 20
    assert mine == others

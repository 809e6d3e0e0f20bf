"""Every profile that is emitted is proven to be its policy's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from sbc.backends.seatbelt import target
from sbc.backends.seatbelt.profile import Profile, profile
from sbc.backends.seatbelt.proof.differs import Differs
from sbc.backends.seatbelt.proof.meaning import Meaning
from sbc.backends.seatbelt.proof.prove import prove
from sbc.backends.seatbelt.proof.questions import paths
from sbc.backends.seatbelt.proof.raw import base
from sbc.backends.seatbelt.proof.values import choices
from sbc.backends.seatbelt.target import SeatbeltTarget
from sbc.backends.target import Unsayable
from sbc.cli.main import main
from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.diagnostics.span import Source
from sbc.pipeline import load_policy
from sbc.policy.policy import Policy
from sbc.record import replaced
from sbc.seatbelt.load import load
from tests.seatbelt.mutants import Grid, forms, mutants, written
from tests.seatbelt.policies import policy_of, texts
from tests.shared_data import ROOT
from tests.targets import policies

GOLDEN = ROOT / "tests" / "golden" / "seatbelt"


def made_of(policy: Policy) -> Profile | None:
    """Emit a policy; None where macOS has no words for it, or where it is wrong there."""
    try:
        return profile(policy)
    except (Unsayable, Failed):
        return None


def held(text: str, folder: Path) -> None:
    policy = policy_of(text, folder)
    made = made_of(policy) if policy else None
    if policy and made:
        assert prove(policy, made.text, made.losses, most=None).compared > 300


SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)


@settings(SETTINGS, max_examples=60)
@given(text=texts(block=False))
def test_what_files_and_network_say_is_what_is_emitted(text: str, tmp_path: Path) -> None:
    held(text, tmp_path)


@settings(SETTINGS, max_examples=60)
@given(text=texts(block=True))
def test_so_it_is_with_rules_of_the_block(text: str, tmp_path: Path) -> None:
    held(text, tmp_path)


@pytest.mark.slow
@settings(SETTINGS, max_examples=1500)
@given(text=texts(block=True))
def test_so_it_is_with_many_more(text: str, tmp_path: Path) -> None:
    held(text, tmp_path)


def shipped(name: str) -> tuple[Policy, Profile]:
    path = next(one for one in (ROOT / "profiles" / name, GOLDEN / name) if one.exists())
    policy = load_policy(path, path.stem if path.stem == "builder" else None, Reporter())
    return policy, profile(policy)


NAMES = (
    "none", "apple.shm.notification_center", "apple.cfprefs.x", "com.apple.logd", "com.apple.trustd",
    "com.apple.SecurityServer", "com.apple.system.logger",
)  # fmt: skip


def kept(name: str, every: int) -> None:
    """Hold that each mutant of a profile is found, or decides as the profile does."""
    policy, made = shipped(name)
    plain = written(forms(made.text))
    prove(policy, plain, made.losses)
    values = list(choices(policy))[:2]
    grid = Grid(plain, values, list({path: None for given in values for path in around(policy, plain, given)}), NAMES)
    found = 0
    for what, text in list(mutants(made.text))[::every]:
        try:
            prove(policy, text, made.losses)
        except Differs:
            found += 1
        else:
            assert grid.differs(text) == "", what
    assert found > 3


def around(policy: Policy, text: str, given: dict[str, str]) -> Iterator[str]:
    """Give more paths than the proof asks about."""
    profiles = [load(Source("p.sb", text), given), base(services=False)]
    for path in paths(Meaning(policy, given), profiles, moved=False):
        top = "" if path == "/" else path
        yield from (path, f"{top}/y", f"{top}/x/y/z", *([f"{top}.q"] if top else []))


def test_mutants_of_the_gate_are_found() -> None:
    kept("gate.sbx", every=37)


@pytest.mark.parametrize("name", ["builder.sbx", "names.sbx"])
def test_a_folder_above_a_hidden_one_that_a_parameter_opens_stays_where_it_is(name: str) -> None:
    """Where the work tree holds the home folder, moving that away would show what is hidden in it."""
    policy, made = shipped(name)
    for moved in ("home", ":HOME"):
        text = made.text.replace(f'\n  (literal (param "{moved}"))', "")
        assert text != made.text
        with pytest.raises(Differs, match="`file-write-unlink` on"):
            prove(policy, text, made.losses)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "every"), [("gate.sbx", 1), ("builder.sbx", 11), ("names.sbx", 7), ("precedence.sbx", 1)]
)
def test_mutants_are_found(name: str, every: int) -> None:
    kept(name, every)


def test_a_wrong_profile_is_an_internal_error_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(policy: Policy) -> Profile:
        made = profile(policy)
        return replaced(made, text=made.text.replace('(subpath "/opt/secret")', '(literal "/opt/secret")'))

    monkeypatch.setattr(target, "profile", faulty)
    source = tmp_path / "p.sbx"
    source.write_text("sbx 1\nprofile p {\n  files { root host; write /opt; hide /opt/secret }\n}\n")
    for command in (["compile", str(source), "-o", str(tmp_path / "out")], ["check", str(source)]):
        assert main(command) == 2
        told = capsys.readouterr().err
        assert "SBX605" in told
        assert "`file-" in told
        assert "on `/opt/secret/x` is allowed by line " in told
        assert "denied by `hide /opt/secret` (p.sbx:3)" in told
    assert not (tmp_path / "out").exists()


def test_what_is_too_large_to_be_proven_is_not_written() -> None:
    many = policies.policy(policies.files(*(policies.hide(f"/opt/{'x' * 900}/{place}") for place in range(1200))))
    with pytest.raises(Unsayable, match="too large to be proven"):
        SeatbeltTarget().emit(many)

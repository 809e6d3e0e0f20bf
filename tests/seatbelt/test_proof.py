"""Every profile that is emitted is proven to be its policy's."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings

from sbc.backends.seatbelt.profile import Profile, profile
from sbc.backends.seatbelt.proof.prove import prove
from sbc.backends.target import Unsayable
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.policy import Policy
from tests.seatbelt.policies import policy_of, texts


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

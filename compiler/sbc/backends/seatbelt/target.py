"""The target `sbpl`: a Seatbelt profile for macOS."""

from sbc.backends.seatbelt.paths import NAME
from sbc.backends.seatbelt.profile import Profile, profile
from sbc.backends.target import Artifact, OutputFile, Unsayable
from sbc.diagnostics.catalogue.proof import ProfileIsWrong
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.origin import Block
from sbc.policy.policy import Policy


class SeatbeltTarget:
    """Emits `NAME.sb`: `sandbox-exec -f NAME.sb -D PARAMETER=VALUE...`.

    The loader gives every parameter its resolved path: those of the profile, `home`, `:HOME` (the variable's value),
    `tmpdir` and `cwd`.
    """

    name = NAME
    blocks: frozenset[Block] = frozenset(("files", "network", "process", "seatbelt"))

    def emit(self, policy: Policy) -> Artifact:
        """Emit the profile, and prove that it is the policy's.

        `Unsayable` where a path is moved, or the profile is too large to be proven; `Failed` where something in the
        policy is wrong on macOS, or the profile is.
        """
        made = profile(policy)
        _prove(policy, made)
        file = OutputFile(f"{policy.name}.sb", made.text.encode("utf-8"))
        return Artifact((file,), made.losses, made.notes, made.unread)


def _prove(policy: Policy, made: Profile) -> None:
    # Imported here: a policy that SBPL cannot say gets no further than `profile`.
    from sbc.backends.seatbelt.proof.differs import Differs, TooLarge  # noqa: PLC0415
    from sbc.backends.seatbelt.proof.prove import prove  # noqa: PLC0415

    try:
        prove(policy, made.text, made.losses)
    except TooLarge as error:
        raise Unsayable(NAME, policy.files.origin, f"the profile is too large to be proven: {error}") from None
    except Differs as error:
        origin = error.origin or policy.files.origin
        raise Failed((ProfileIsWrong(origin.span, policy.name, str(error)),)) from None

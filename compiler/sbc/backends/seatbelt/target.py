"""The target `sbpl`: a Seatbelt profile for macOS."""

from sbc.backends.seatbelt.paths import NAME
from sbc.backends.seatbelt.profile import profile
from sbc.backends.target import Artifact, OutputFile
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
        """Emit the profile; `Unsayable` where a path is moved, `Failed` where something in it is wrong on macOS."""
        made = profile(policy)
        file = OutputFile(f"{policy.name}.sb", made.text.encode("utf-8"))
        return Artifact((file,), made.losses, made.notes, made.unread)

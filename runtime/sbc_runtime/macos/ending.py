"""What a run on macOS came to."""

from sbc_runtime import classify
from sbc_runtime.backends.interface import Ended
from sbc_runtime.loaded import Loaded
from sbc_runtime.macos import limits as macos_limits
from sbc_runtime.macos.areas import look_again
from sbc_runtime.macos.arguments import own_failure
from sbc_runtime.macos.preparing import Ready
from sbc_runtime.macos.streaming import Loop
from sbc_runtime.outcome import Failure, Isolation, Kind, Outcome, Protections, Timings
from sbc_runtime.running import failed_outcome
from sbc_runtime.touched import touched

_NOTES = (
    "Seatbelt's rules were handed to sandbox-exec; nothing was read back, since macOS shows nobody what holds",
    "a process that leaves the command's session lives on, with the rules that it has",
)


def outcome(
    loaded: Loaded, ready: Ready, loop: Loop, head: bytes, moments: tuple[float, float, float, float]
) -> Outcome:
    """Give it, but for what the run knows alone. `moments`: when it began, was let go, had ended, and was cleared."""
    ended = None if loop.status is None else Ended(loop.status, 0)
    kind = classify.kind(ended, classify.Seen(loop.kind, 0, ready.limits.cpu, 0, None))
    code = classify.code(kind, ended)
    failure = None
    if kind == "sandbox-failed":
        failure = Failure("supervisor", f"what watched the command was lost {loop.fault}".rstrip(), "run it again")
    elif kind == "exited" and (said := own_failure(code, head)) is not None:
        kind, code, ended = "setup-failed", classify.EXIT_SETUP_FAILED, None
        failure = Failure("backend", said, "`sbc doctor` tries it; `sbc check` looks at the profile")
    absent = ready.absent if ended is None else look_again(ready.absent)
    by_command = kind in {"exited", "signalled"}
    if failure is None and (failure := touched(absent, ())) is not None:
        by_command, code = False, code or classify.EXIT_SETUP_FAILED
    began, released, stopped, now = moments
    times = (released - began, stopped - released, now - stopped, now - began)
    kept: Kind = kind
    network = loaded.bundle.plan.network.mode
    host_root = ready.areas.areas[0].access != "hide"
    return failed_outcome("", loaded, failure, "setup-failed")._replace(
        kind=kept,
        by="command" if by_command else "sandbox",
        code=code,
        status=ended.status >> 8 if ended is not None and not ended.status & 0x7F else None,
        signal=ended.status & 0x7F or None if ended is not None else None,
        isolation=None
        if kind == "setup-failed"
        else Isolation("seatbelt", "seatbelt", False, Protections(), None, (), host_root, network),
        limits=macos_limits.reports(ready.limits),
        absent=absent,
        losses=ready.losses,
        notes=_NOTES,
        timings=Timings(*(round(1000 * one, 3) for one in times)),
    )

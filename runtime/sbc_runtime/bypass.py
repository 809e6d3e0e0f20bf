"""The Windows rule: nothing runs there, for there is no sandbox; one attested run of the builder may, without one.

An administrator, who alone has the key, makes an attestation on that host for one run:

    here = bypass.place(platformdirs.user_config_dir("sbc", appauthor=False), "C:\\trees\\one")
    document = attestation.sign(
        {
            **here.fields(),
            "nonce": secrets.token_hex(16),
            "runId": "nightly-17",
            "acknowledgedPlatform": "win32",
            "authorizedBy": "A. Administrator",
            "timestamp": "2026-01-31T09:00:00Z",
            "expiresAt": "2026-01-31T09:30:00Z",
        },
        attestation.admin_key(os.environ),
    )

What runs by it runs as its user, and could read the memory of that user's other processes, this one with the key too:
have a key of its own for each host, and change it after a run that you would not trust.
"""

import os
import time
from collections.abc import Callable, Mapping

from sbc_runtime import attestation, installation
from sbc_runtime.attestation import Place, Refused
from sbc_runtime.containment import CONTAINMENT_UNAVAILABLE
from sbc_runtime.doctor_findings import ELSEWHERE, NO_SANDBOX
from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Bypass
from sbc_runtime.records import NamedTuple
from sbc_runtime.repository import Repository

ONLY_ON_WINDOWS = "sandbox bypass attestation is only supported on Windows"
PROFILE = "builder"
"""The one profile that an attestation can be for, by its name in the bundle; not those that extend it."""


class Request(NamedTuple):
    """What a caller gives to have a run without a sandbox.

    `attestation`: the document. `active_sandbox_check`: the caller's own check that what it runs in (a virtual machine,
    a container of the host's) is in force now; anything but True, and any exception, refuses. `folder`: the folder of
    this user's configuration, absolute. `run_id`: where given, the attestation has to be for this run.
    """

    attestation: bytes
    active_sandbox_check: Callable[[], bool]
    folder: str
    run_id: str | None = None


class Host(NamedTuple):
    """What an attestation is judged by: `sys.platform`, the clock in seconds since 1970, the environment."""

    platform: str
    now: Callable[[], float] = time.time
    environ: Mapping[str, str] = os.environ


def refusal() -> SetupFailed:
    """Give why nothing runs on Windows."""
    return SetupFailed(CONTAINMENT_UNAVAILABLE, NO_SANDBOX, ELSEWHERE)


def require_windows(platform: str) -> None:
    """Refuse an attestation on every other platform, whatever it says; `SetupFailed`."""
    if platform != attestation.PLATFORM:
        raise SetupFailed("attestation", ONLY_ON_WINDOWS)


def place(folder: str, tree: str, environ: Mapping[str, str] = os.environ) -> Place:
    """Give what an attestation for this host and a tree's repository has to name; `Refused`.

    `folder`: of the user's configuration. The installation id is made where there is none.
    """
    repository = Repository(tree, environ)
    path = repository.path()
    return Place(installation.installation_id(folder), repository.root_commit(), repository.origin(), path)


def authorize(request: Request, profile: str, tree: str | None, host: Host) -> Bypass:
    """Accept an attestation for one run, and use it up; `SetupFailed` where that is not so.

    `profile`: the bundle's; `tree`: the folder that the run works on. The nonce is recorded last, and durably: from
    then on the attestation is used, even where the command is never started.
    """
    require_windows(host.platform)
    if profile != PROFILE:
        raise SetupFailed(
            CONTAINMENT_UNAVAILABLE, f"{NO_SANDBOX}, and an attestation is for the profile `{PROFILE}` only", ELSEWHERE
        )
    try:
        return _authorized(request, tree, host)
    except Refused as refused:
        why = f"the attestation is refused: {refused}"
        raise SetupFailed(CONTAINMENT_UNAVAILABLE, why, "have one made for this run, host and repository") from None


def _authorized(request: Request, tree: str | None, host: Host) -> Bypass:
    key = attestation.admin_key(host.environ)
    one = attestation.read(request.attestation)
    attestation.verify(one, key)
    attestation.check_time(one, host.now())
    if request.run_id is not None and one["runId"] != request.run_id:
        raise Refused("runId", "is that of another run")
    if tree is None:
        raise Refused("repositoryPath", "cannot be found out: the profile has no parameter `worktree`")
    attestation.check_place(one, place(request.folder, tree, host.environ))
    _check_active(request.active_sandbox_check)
    # The checks took time of their own.
    attestation.check_time(one, host.now())
    record = f"run {one['runId']}, authorized by {one['authorizedBy']}, until {one['expiresAt']}"
    used = installation.use_nonce(request.folder, one["nonce"], record)
    return Bypass(one["runId"], one["authorizedBy"], used, one["expiresAt"])


def _check_active(check: Callable[[], bool]) -> None:
    try:
        active: object = check()
    except Exception as error:  # the caller's own code: whatever it raises, it did not pass
        raise SetupFailed(
            CONTAINMENT_UNAVAILABLE, f"the caller's active-sandbox check failed ({type(error).__name__})"
        ) from None
    if active is not True:
        raise SetupFailed(CONTAINMENT_UNAVAILABLE, "the caller's active-sandbox check did not pass")

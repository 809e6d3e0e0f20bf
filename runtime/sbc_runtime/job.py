"""What is asked of one run, as the host process sends it to the supervisor. Everything here is data.

Texts carry bytes (`texts`).
"""

from sbc_runtime.records import NamedTuple
from sbc_runtime.scheduling import Scheduling
from sbc_runtime.words import Literal

BackendChoice = Literal["auto", "namespace", "bwrap", "process", "seatbelt", "oci"]

StdinKind = Literal["null", "bytes", "descriptor", "terminal"]
OutKind = Literal["null", "capture", "descriptor", "terminal"]


class Caller(NamedTuple):
    """The host process as it is at the time of the call.

    `cwd`: its folder, empty where that is gone; `home`: the folder of the real uid in the password database, empty
    where it has none; `home_variable`: HOME where it is an absolute path; `tmpdir`: the value of `${tmpdir}`, not yet
    checked against the profile's paths; `limits`: (resource, soft, hard) of every rlimit that can be read, as
    `resource` numbers them; `scheduling`: that of the calling thread; `runtime_dir`: XDG_RUNTIME_DIR where it is an
    absolute path, unchecked.
    """

    cwd: str
    home: str
    home_variable: str | None
    tmpdir: str
    limits: tuple[tuple[int, int, int], ...]
    scheduling: Scheduling
    runtime_dir: str | None = None


class Options(NamedTuple):
    """Choices of the caller. `timeout` (milliseconds) can only shorten the profile's `wall`.

    `report`: the absolute path at which the caller will write a report; refused where the command could write it too.
    `relied_on`: absolute paths that the command must not change (`prepare.own`).
    """

    backend: BackendChoice = "auto"
    allow_wider: bool = False
    timeout: int | None = None
    stdin: StdinKind = "null"
    stdout: OutKind = "capture"
    stderr: OutKind = "capture"
    rows: int = 24
    columns: int = 80
    cgroup_base: str | None = None
    report: str | None = None
    relied_on: tuple[str, ...] = ()


class Job(NamedTuple):
    """One run. `params` are texts of absolute paths or of the parameter's type, complete with defaults."""

    run_id: str
    argv: tuple[str, ...]
    params: dict[str, str | int]
    environment: tuple[tuple[str, str], ...]
    caller: Caller
    options: Options

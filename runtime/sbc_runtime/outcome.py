"""What a run came to: one `Outcome`, whatever happened.

Times are in milliseconds, sizes in bytes. A protection is `True` or `False` as the kernel showed it for this very run,
and None where it could not be read ("unread"): None is never taken for `True`.
"""

from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Literal

Kind = Literal[
    "exited",
    "signalled",
    "timed-out",
    "cpu-limit",
    "memory-limit",
    "process-limit",
    "output-limit",
    "file-size",
    "cancelled",
    "setup-failed",
    "sandbox-failed",
]
"""How a run ended.

`setup-failed`: the sandbox could not be made as promised, and nothing was run. `sandbox-failed`: what watched the
command was lost when it had been started, or may have been; how it ended is not known.
"""

Level = Literal["namespaces", "container", "seatbelt", "none"]
"""What separates the command from the host: namespaces, an engine's container, Seatbelt's rules, or nothing."""

How = Literal["cgroup", "rlimit", "sampled", "timer", "counted", "job", "none"]
"""How a limit was enforced: `timer` (wall) and `counted` (output) by the supervisor itself, `job` by a Job Object."""

State = bool | None
"""A protection as read back: in force, not in force, or unread."""


class Protections(NamedTuple):
    """One state for each protection, read back from the kernel while the complete command waited to be executed.

    A field is None where it could not be read, and where the backend has no such protection to read.
    """

    user_namespace: State = None
    mount_namespace: State = None
    pid_namespace: State = None
    ipc_namespace: State = None
    uts_namespace: State = None
    cgroup_namespace: State = None
    network_namespace: State = None
    private_root: State = None
    read_only_root: State = None
    mounts: State = None
    no_new_privs: State = None
    capabilities: State = None
    seccomp: State = None
    rlimits: State = None
    proc_masks: State = None
    landlock: State = None


class ReadBack(NamedTuple):
    """What the kernel said of the waiting command and of its init.

    `expected` names the fields of `protections` that this run must have; `filter_bytes` tells whether the bytes of
    the loaded filter were read and compared (only root may); `contradictions` says, one line each, where the
    kernel's view differs from the plan.
    """

    protections: Protections
    expected: tuple[str, ...]
    filter_bytes: State
    contradictions: tuple[str, ...]

    @property
    def verified(self) -> bool:
        """Whether everything that this run must have was read and is in force, and nothing contradicts the plan."""
        return not self.contradictions and all(getattr(self.protections, name) is True for name in self.expected)


class Isolation(NamedTuple):
    """What was between the command and the host. `host_root`: the host's tree was visible, read-only."""

    backend: str
    level: Level
    verified: bool
    protections: Protections
    filter_bytes: State
    contradictions: tuple[str, ...]
    host_root: bool
    network: str
    proc_masked: tuple[str, ...] = ()
    proc_absent: tuple[str, ...] = ()


class RunLoss(NamedTuple):
    """A statement that this run could not enforce as written: where it stands, its text, and why."""

    direction: Literal["narrower", "wider"]
    where: str
    text: str
    why: str


class Absent(NamedTuple):
    """An optional path that was not there before the run. `created`: it was, and protected by no mount, after it."""

    where: str
    text: str
    path: str
    could_be_created: bool = False
    created: bool = False


class LimitReport(NamedTuple):
    """One limit of the profile: its value (milliseconds, bytes or a count), and how it was enforced."""

    key: str
    value: int
    how: tuple[How, ...]
    note: str = ""


class Replaced(NamedTuple):
    """A protected path (`path`) that may lead elsewhere since the run: something else is at `place`, on its way."""

    where: str
    text: str
    path: str
    place: str


class Failure(NamedTuple):
    """What went wrong on our side: the step, why (with the system's message), and what can be done about it."""

    step: str
    why: str
    remedy: str
    errno: int = 0
    where: str = ""

    def __str__(self) -> str:
        at = f" ({self.where})" if self.where else ""
        return f"{self.step}: {self.why}{at}" + (f"; {self.remedy}" if self.remedy else "")


LOST = " was lost"
"""The end of a note on output that could not be passed on."""


class Stream(NamedTuple):
    """One stream: what was captured, how many bytes came in all, and whether more came than was passed on.

    Of a captured stream the first 256 MiB are kept (`streams.CAPTURE_MOST`), or what the profile's `output` allows
    where that is less; a note says so where it happened.
    """

    kept: bytes
    total: int
    cut: bool


class Usage(NamedTuple):
    """The most that was seen: cpu in milliseconds, memory in bytes, tasks. None: not measured."""

    cpu: int | None = None
    memory: int | None = None
    tasks: int | None = None


class Timings(NamedTuple):
    """Milliseconds: until the command was let go, while it ran, until everything was gone, and in all."""

    setup: float
    run: float
    cleanup: float
    total: float


class Bypass(NamedTuple):
    """The attestation by which a run was let go without any sandbox: whose word, for which run, until when.

    `nonce_sha256` stands for its nonce (`installation.nonce_hash`).
    """

    run_id: str
    authorized_by: str
    nonce_sha256: str
    expires_at: str


class Outcome(NamedTuple):
    """How one run ended, and what was in force.

    `status` is the command's exit status (0..255) where it exited by itself, `signal` the signal that ended it. `by`
    says who decided: a status 124 to 127 of the command's own has `by` "command". `code` is what `sbc run` exits with.
    """

    kind: Kind
    by: Literal["command", "sandbox"]
    code: int
    status: int | None
    signal: int | None
    stdout: Stream
    stderr: Stream
    isolation: Isolation | None
    failure: Failure | None
    run_id: str
    profile: str
    bundle: str
    enforcement: str
    usage: Usage
    limits: tuple[LimitReport, ...]
    absent: tuple[Absent, ...]
    losses: tuple[RunLoss, ...]
    covered: tuple[str, ...]
    notes: tuple[str, ...]
    timings: Timings
    environment: tuple[str, ...] = ()
    cgroup: str | None = None
    replaced: tuple[Replaced, ...] = ()
    bypass: Bypass | None = None

    @property
    def ok(self) -> bool:
        """Whether the command ran in a sandbox that was as promised, and exited with 0.

        Of Seatbelt nothing can be read back; there it is what sandbox-exec was told.
        """
        held = self.isolation is not None and (self.isolation.verified or self.isolation.level == "seatbelt")
        return held and self.kind == "exited" and self.status == 0 and self.by == "command"

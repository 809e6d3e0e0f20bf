"""The report of a run: what was in force, as JSON that a published schema describes (`report.schema.json`).

It says no more than the outcome does: a protection is true or false as the kernel showed it for this run, and "unread"
where it could not be read, or where no sandbox was made.
"""

import json
from collections.abc import Mapping

from sbc_runtime.atomic import write_file
from sbc_runtime.codec import BOOLEAN, Codec, fault, integer, listed, optional, record, text, word
from sbc_runtime.contents import Bundle
from sbc_runtime.environment_digest import environment_digest, facts_of, shown
from sbc_runtime.outcome import (
    Absent,
    Bypass,
    Failure,
    LimitReport,
    Outcome,
    Protections,
    Replaced,
    RunLoss,
    Timings,
    Usage,
)
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Any

FORMAT = "sbc-report/1"

_LARGEST = 2**63 - 1
_DIGEST = text(pattern="^sha256:[0-9a-f]{64}$")
_COUNT = integer(0, _LARGEST)


class Ending(NamedTuple):
    """How the run ended. `by`: the command itself, or the sandbox; `code`: what `sbc run` exits with."""

    kind: str
    by: str
    code: int
    status: int | None
    signal: int | None
    failure: Failure | None


class Bytes(NamedTuple):
    """One stream: bytes that came, and whether the run was ended, or the rest dropped, because it was too long."""

    total: int
    cut: bool


class Proc(NamedTuple):
    """Entries of the sandbox's /proc: those covered or read-only, and those that this kernel does not have."""

    masked: tuple[str, ...]
    absent: tuple[str, ...]


class Report(NamedTuple):
    """Everything that is reported of one run; times in milliseconds, sizes in bytes."""

    report: str
    run: str
    profile: str
    bundle: str
    enforcement: str
    environment_digest: str | None
    outcome: Ending
    backend: str | None
    level: str
    bypass: Bypass | None
    verified: bool
    protections: Protections
    filter_bytes: bool | None
    contradictions: tuple[str, ...]
    host_root: bool | None
    network: str | None
    environment: tuple[str, ...]
    limits: tuple[LimitReport, ...]
    cgroup: str | None
    usage: Usage
    absent: tuple[Absent, ...]
    replaced: tuple[Replaced, ...]
    proc: Proc
    covered: tuple[str, ...]
    losses: tuple[RunLoss, ...]
    stdout: Bytes
    stderr: Bytes
    timings: Timings
    notes: tuple[str, ...]


def _read_state(value: object, where: str) -> bool | None:
    if value == "unread":
        return None
    if not isinstance(value, bool):
        raise fault(where, "is not true, false or unread")
    return value


def _read_time(value: object, where: str) -> float:
    if not isinstance(value, (int, float)) or value < 0:
        raise fault(where, "is not a time")
    return float(value)


_STATE: Codec[bool | None] = Codec(_read_state, shown, {"enum": [True, False, "unread"]})
_TIME: Codec[float] = Codec(_read_time, lambda value: value, {"type": "number", "minimum": 0})
_KINDS = (
    "exited", "signalled", "timed-out", "cpu-limit", "memory-limit", "process-limit", "output-limit", "file-size",
    "cancelled", "setup-failed", "sandbox-failed",
)  # fmt: skip
_FAILURE = record(Failure, step=text(), why=text(), remedy=text(), errno=integer(0, 4095), where=text())
_STREAM = record(Bytes, total=_COUNT, cut=BOOLEAN)
_TEXTS = listed(text())

REPORT: Codec[Report] = record(
    Report,
    report=word(FORMAT),
    run=text(),
    profile=text(),
    bundle=_DIGEST,
    enforcement=_DIGEST,
    environment_digest=optional(_DIGEST),
    outcome=record(
        Ending,
        kind=word(*_KINDS),
        by=word("command", "sandbox"),
        code=integer(0, 255),
        status=optional(integer(0, 255)),
        signal=optional(integer(1, 127)),
        failure=optional(_FAILURE),
    ),
    backend=optional(text()),
    level=word("namespaces", "container", "seatbelt", "none"),
    bypass=optional(record(Bypass, run_id=text(), authorized_by=text(), nonce_sha256=text(), expires_at=text())),
    verified=BOOLEAN,
    protections=record(Protections, None, **dict.fromkeys(Protections._fields, _STATE)),
    filter_bytes=_STATE,
    contradictions=_TEXTS,
    host_root=optional(BOOLEAN),
    network=optional(word("none", "host")),
    environment=_TEXTS,
    limits=listed(
        record(
            LimitReport,
            key=text(),
            value=_COUNT,
            how=listed(word("cgroup", "rlimit", "sampled", "timer", "counted", "job", "none")),
            note=text(),
        )
    ),
    cgroup=optional(text()),
    usage=record(Usage, cpu=optional(_COUNT), memory=optional(_COUNT), tasks=optional(_COUNT)),
    absent=listed(record(Absent, where=text(), text=text(), path=text(), could_be_created=BOOLEAN, created=BOOLEAN)),
    replaced=listed(record(Replaced, where=text(), text=text(), path=text(), place=text())),
    proc=record(Proc, masked=_TEXTS, absent=_TEXTS),
    covered=_TEXTS,
    losses=listed(record(RunLoss, direction=word("narrower", "wider"), where=text(), text=text(), why=text())),
    stdout=_STREAM,
    stderr=_STREAM,
    timings=record(Timings, setup=_TIME, run=_TIME, cleanup=_TIME, total=_TIME),
    notes=_TEXTS,
)


def report(
    outcome: Outcome, bundle: Bundle, params: Mapping[str, str | int], environment: tuple[tuple[str, str], ...]
) -> Report:
    """Give the report of a run of a bundle. `params` and `environment`: as they were given to it, with all values."""
    isolation = outcome.isolation
    facts = facts_of(outcome, bundle, params, environment)
    return Report(
        report=FORMAT,
        run=outcome.run_id,
        profile=outcome.profile,
        bundle=outcome.bundle,
        enforcement=outcome.enforcement,
        environment_digest=None if facts is None else environment_digest(facts),
        outcome=Ending(outcome.kind, outcome.by, outcome.code, outcome.status, outcome.signal, outcome.failure),
        backend=None if isolation is None else isolation.backend,
        level="none" if isolation is None else isolation.level,
        bypass=outcome.bypass,
        verified=isolation is not None and isolation.verified,
        protections=Protections() if isolation is None else isolation.protections,
        filter_bytes=None if isolation is None else isolation.filter_bytes,
        contradictions=() if isolation is None else isolation.contradictions,
        host_root=None if isolation is None else isolation.host_root,
        network=None if isolation is None else isolation.network,
        environment=outcome.environment,
        limits=outcome.limits,
        cgroup=outcome.cgroup,
        usage=outcome.usage,
        absent=outcome.absent,
        replaced=outcome.replaced,
        proc=Proc((), ()) if isolation is None else Proc(isolation.proc_masked, isolation.proc_absent),
        covered=outcome.covered,
        losses=outcome.losses,
        stdout=Bytes(outcome.stdout.total, outcome.stdout.cut),
        stderr=Bytes(outcome.stderr.total, outcome.stderr.cut),
        timings=outcome.timings,
        notes=outcome.notes,
    )


def to_json(made: Report) -> bytes:
    """Give the report's bytes; a byte of a path that is not UTF-8 stands as JSON's escape of U+DC80..U+DCFF."""
    plain = json.dumps(REPORT.write(made), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return plain.encode("utf-8", "backslashreplace")


def schema() -> dict[str, Any]:
    """Give the JSON Schema of reports; `report.schema.json` is what this gives."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The report of one sandboxed run",
        **REPORT.schema,
    }


def schema_text() -> str:
    """Give it as the published file."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"


def write(made: Report, place: str) -> None:
    """Write a report where `report_place` allows it, whole or not at all; a link there is replaced. `OSError`."""
    write_file(place, to_json(made))

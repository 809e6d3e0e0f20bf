"""An outcome as JSON between the supervisor and the host process: lists in the order of the fields.

The host reads what its own supervisor wrote; captured streams travel in files of their own.
"""

import json

from sbc_runtime.outcome import (
    Absent,
    Failure,
    Isolation,
    LimitReport,
    Outcome,
    Protections,
    Replaced,
    RunLoss,
    Stream,
    Timings,
    Usage,
)
from sbc_runtime.words import Any


def encode(outcome: Outcome) -> bytes:
    """Give the text; `kept` of the streams has to be empty."""
    streams = {name: getattr(outcome, name)._replace(kept="") for name in ("stdout", "stderr")}
    return json.dumps([*outcome._replace(**streams)]).encode()


def decode(data: bytes, stdout: bytes, stderr: bytes) -> Outcome:
    """Read the text, and put in what was captured. `ValueError` where it is no outcome."""
    fields: list[Any] = json.loads(data)
    made = dict(zip(Outcome._fields, fields, strict=True))
    for name, kept in (("stdout", stdout), ("stderr", stderr)):
        _, total, cut = made[name]
        made[name] = Stream(kept, total, cut)
    if made["isolation"] is not None:
        made["isolation"] = _isolation(made["isolation"])
    if made["failure"] is not None:
        made["failure"] = Failure(*made["failure"])
    made["usage"] = Usage(*made["usage"])
    made["timings"] = Timings(*made["timings"])
    made["limits"] = tuple(LimitReport(key, value, tuple(how), note) for key, value, how, note in made["limits"])
    made["absent"] = tuple(Absent(*one) for one in made["absent"])
    made["replaced"] = tuple(Replaced(*one) for one in made["replaced"])
    made["losses"] = tuple(RunLoss(*one) for one in made["losses"])
    for name in ("covered", "notes", "environment"):
        made[name] = tuple(made[name])
    return Outcome(**made)


def _isolation(fields: list[Any]) -> Isolation:
    one = Isolation(*fields)
    return one._replace(
        protections=Protections(*one.protections),
        contradictions=tuple(one.contradictions),
        proc_masked=tuple(one.proc_masked),
        proc_absent=tuple(one.proc_absent),
    )

"""An outcome between the supervisor and the host process; captured streams travel in files of their own."""

from sbc_runtime import outcome as records
from sbc_runtime.carrier import Carrier
from sbc_runtime.outcome import Outcome

_CARRIER = Carrier(records)


def encode(outcome: Outcome) -> bytes:
    """Give the bytes, without what was captured."""
    streams = {name: getattr(outcome, name)._replace(kept=b"") for name in ("stdout", "stderr")}
    return _CARRIER.pack(outcome._replace(**streams))


def decode(data: bytes, stdout: bytes, stderr: bytes) -> Outcome:
    """Read the bytes, and put in what was captured. `ValueError` where they are no outcome."""
    made = _CARRIER.unpack(data)
    if not isinstance(made, Outcome):
        raise ValueError("this is not an outcome")
    return made._replace(stdout=made.stdout._replace(kept=stdout), stderr=made.stderr._replace(kept=stderr))

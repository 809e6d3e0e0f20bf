"""The short form of a report, for people."""

from sbc_runtime.outcome import Bypass, LimitReport, Protections
from sbc_runtime.report import Report

_SHORT = {name: name.removesuffix("_namespace").replace("_", " ") for name in Protections._fields}
_BYTES = frozenset({"memory", "file-size", "output", "core-size"})
_TIMES = frozenset({"wall", "cpu"})


def to_text(made: Report) -> str:
    """Give the report as a few lines. What is not in force is named, not left out."""
    lines = [f"run {made.run} of {made.profile}: {ending(made)}", _isolation(made)]
    for word, state in (("in force", True), ("not in force", False), ("unread", None)):
        names = [_SHORT[name] for name, found in made.protections._asdict().items() if found is state]
        if names:
            lines.append(f"{word}: {', '.join(names)}")
    lines += [f"contradiction: {one}" for one in made.contradictions]
    if made.limits:
        lines.append("limits: " + ", ".join(_limit(one) for one in made.limits))
    lines += [f"limit on {one.key}: {one.note}" for one in made.limits if one.note]
    if made.cgroup is not None:
        lines.append(f"cgroup: {made.cgroup}")
    if made.proc.masked or made.proc.absent:
        lines.append(f"/proc: {len(made.proc.masked)} entries masked, {len(made.proc.absent)} not on this kernel")
    for one in made.absent:
        tail = ", created by the command" if one.created else ", could be created" if one.could_be_created else ""
        lines.append(f"missing: {one.path} ({one.where}{tail})")
    lines += [f"replaced: {one.path}, at {one.place} ({one.where})" for one in made.replaced]
    lines += [f"covered: {one}" for one in made.covered]
    lines += [f"loss, {one.direction}: {one.text} ({one.where}): {one.why}" for one in made.losses]
    lines += [f"note: {one}" for one in made.notes]
    lines += [f"bundle {made.bundle}", f"enforcement {made.enforcement}"]
    if made.environment_digest is not None:
        lines.append(f"environment {made.environment_digest}")
    return "\n".join(line.encode("utf-8", "backslashreplace").decode() for line in lines) + "\n"


def ending(made: Report) -> str:
    """Say in one phrase how the run ended."""
    end = made.outcome
    if end.status is not None and end.kind == "exited":
        how = f"exited {end.status}"
    elif end.signal is not None and end.kind == "signalled":
        how = f"ended by signal {end.signal}"
    else:
        how = end.kind
    if end.by == "sandbox":
        how += f", decided by the sandbox, code {end.code}"
    return how if end.failure is None else f"{how}: {end.failure}"


def unsandboxed(by: Bypass) -> str:
    """Say that a run has no sandbox, and by whose word."""
    return (
        f"NO SANDBOX: isolation none, by an attestation of {by.authorized_by} for run {by.run_id}"
        f" (nonce sha256:{by.nonce_sha256}, until {by.expires_at})"
    )


def _isolation(made: Report) -> str:
    if made.bypass is not None:
        return unsandboxed(made.bypass)
    if made.backend is None:
        return "isolation: none was made"
    state = "verified" if made.verified else "NOT verified"
    root = "the host's tree, read-only" if made.host_root else "private"
    return f"isolation: {made.level} by {made.backend}, {state}; root {root}; network {made.network}"


def _limit(one: LimitReport) -> str:
    if one.key in _TIMES:
        value = f"{one.value / 1000:g} s"
    elif one.key in _BYTES:
        value = _size(one.value)
    else:
        value = str(one.value)
    return f"{one.key} {value} ({'+'.join(one.how)})"


def _size(value: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit and value % unit == 0:
            return f"{value // unit} {name}"
    return f"{value} B"

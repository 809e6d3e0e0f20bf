"""What `sbc doctor` finds, as values; on Windows there is nothing to try, and so this is all."""

from sbc_runtime.records import NamedTuple

NO_SANDBOX = "there is no sandbox on Windows"
ELSEWHERE = "run it on Linux or macOS, or in WSL 2"


class Check(NamedTuple):
    """One answer: what was tried (`backend namespace`, `cgroup`, `abi`), whether it works, else why not, and a remedy.

    `notes`: what was seen on the way, one line each.
    """

    name: str
    ready: bool
    why: str
    remedy: str
    notes: tuple[str, ...] = ()


class Findings(NamedTuple):
    """Everything that was found. `auto`: the backend that `auto` takes here, None where it refuses.

    `uid`: None on Windows, which has none."""

    system: str
    kernel: str
    machine: str
    uid: int | None
    auto: str | None
    checks: tuple[Check, ...]

    @property
    def ready(self) -> bool:
        """Whether commands can be run in a sandbox here."""
        return self.auto is not None

    def to_json(self) -> dict[str, object]:
        """Give the findings as a JSON value."""
        checks = [{**one._asdict(), "notes": list(one.notes)} for one in self.checks]
        return {**self._asdict(), "checks": checks, "ready": self.ready}

    def lines(self) -> tuple[str, ...]:
        """Give the findings for people."""
        user = "" if self.uid is None else f", uid {self.uid}"
        made = [f"{self.system} {self.kernel}, {self.machine}{user}"]
        for one in self.checks:
            made.append(f"{one.name}: {'ready' if one.ready else f'not ready: {one.why}'}")
            made += [f"  {line}" for line in (*one.notes, *([one.remedy] if one.remedy and not one.ready else []))]
        made.append(f"`--backend auto` takes {self.auto}" if self.auto else "no backend that isolates works here")
        return tuple(made)


def on_windows(release: str, machine: str) -> Findings:
    """Give the findings of Windows: nothing that isolates."""
    return Findings("Windows", release, machine, None, None, (Check("containment", False, NO_SANDBOX, ELSEWHERE),))

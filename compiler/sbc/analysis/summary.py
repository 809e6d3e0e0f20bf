"""What `sbc check` says of a profile that is fine: the figures of each filter."""

from collections.abc import Iterable
from typing import Any

from sbc.backends.bpf.target import Filter, FilterReport
from sbc.policy.policy import Policy
from sbc.record import Record


class Summary(Record):
    """The figures of a profile. No filters: it says `syscalls none`, which reports say out loud."""

    profile: str
    filters: tuple[FilterReport, ...]

    def json(self) -> dict[str, Any]:
        """Give the figures as `--json` prints them."""
        return {
            "profile": self.profile,
            "filters": [
                {
                    "name": report.name,
                    "instructions": report.instructions,
                    "longest_path": report.longest_path,
                    "const_allow": dict(report.const_allow),
                    "proof_nodes": report.proof_nodes,
                    "proof_ms": round(report.proof_ms, 1),
                }
                for report in self.filters
            ],
        }

    def lines(self) -> tuple[str, ...]:
        """Give the figures for people, one line a filter."""
        if not self.filters:
            return (f"{self.profile}: no filter (`syscalls none`): every system call is open",)
        return tuple(f"{self.profile}: {_line(report)}" for report in self.filters)


def summarise(policy: Policy, filters: Iterable[Filter]) -> Summary:
    """Give the figures of filters that are built, which means: verified and proven."""
    return Summary(policy.name, tuple(one.report() for one in filters))


def _line(report: FilterReport) -> str:
    always = ", ".join(f"{count} on {abi}" for abi, count in report.const_allow) or "none, the kernel keeps no bitmap"
    return (
        f"{report.name}: {report.instructions} instructions, longest path {report.longest_path}, "
        f"allowed without running it: {always}, proven in {report.proof_ms:.1f} ms"
    )

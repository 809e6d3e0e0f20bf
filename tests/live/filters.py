"""The filters that are run on the kernel."""

from typing import NamedTuple

from sbc_runtime.instruction import Program, unpack
from tests.decision.shipped import shipped_filters
from tests.shared_data import shared_folder


class Loaded(NamedTuple):
    """A filter for x86-64, and how many calls to make under it."""

    program: Program
    calls: int


def x86_64_filters() -> dict[str, Loaded]:
    """Give filters by name: the shipped ones, and with fewer calls those of other compilers, which check the check."""
    made = {
        name: Loaded(program, 30_000)
        for name, (policy, program) in shipped_filters().items()
        if policy.abis[0].arch.name == "x86_64"
    }
    folder = shared_folder()
    for path in sorted((folder / "bench" / "peer-filters").glob("*.bpf")) if folder else ():
        made[path.stem] = Loaded(unpack(path.read_bytes(), "little"), 3_000)
    return made

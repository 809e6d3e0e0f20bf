"""The filters that are run on the kernel."""

from pathlib import Path

from sbc.backends.bpf.generate import generate
from sbc_runtime.instruction import Program, unpack
from tests.bench.policies import load_policy
from tests.shared_data import shared_folder


def x86_64_filters() -> dict[str, Program]:
    """Give filters for x86-64 by name: those of the two reference policies, and other compilers' for the same."""
    folder = shared_folder()
    if folder is None:
        return {}
    made: dict[str, Program] = {}
    for path in sorted((folder / "bench").glob("policy-*.json")):
        made[path.stem] = generate(load_policy(path))
    for path in sorted((folder / "bench" / "peer-filters").glob("*.bpf")):
        made[path.stem] = unpack(Path(path).read_bytes(), "little")
    return made

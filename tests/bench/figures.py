"""The figures of the compiler and their bars: each function gives rows, `ROWS` lists the functions."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sbc.backends.bpf.generate import generate
from sbc.backends.bpf.target import Filter, build, proven
from sbc.policy.conditions import Between
from sbc.policy.origin import Origin
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule
from sbc_runtime.action import ALLOW, KILL_PROCESS, errno_verdict
from sbc_runtime.arch import ARCHES
from tests.bench.commands import check_rows, compile_rows
from tests.bench.held import memory_rows, sampling_rows
from tests.bench.peers import libseccomp, stored
from tests.bench.policies import load_policy
from tests.bench.row import Row
from tests.bench.runs import api_rows, command_rows
from tests.shared_data import shared_folder

RUNS = 9


class Reference(NamedTuple):
    """A policy that the peers have filters for."""

    name: str
    instructions: int
    constant: int


REFERENCES = (Reference("denylist", 55, 413), Reference("docker-default", 64, 305))


def best(run: Callable[[], object]) -> float:
    """Give the least time of some runs, in milliseconds."""
    times: list[float] = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def source_of(reference: Reference) -> Path | None:
    folder = shared_folder()
    path = folder / "bench" / f"policy-{reference.name}.json" if folder else None
    return path if path and path.exists() else None


@cache
def filter_of(path: Path) -> Filter:
    return build(load_policy(path))


def sizes() -> list[Row]:
    """Instructions, longest path and constant calls of the reference policies, beside the peers' stored filters."""
    rows: list[Row] = []
    for reference in REFERENCES:
        path = source_of(reference)
        if path is None:
            rows.append(Row(reference.name, "no shared data"))
            continue
        report = filter_of(path).report()
        constant = dict(report.const_allow)["x86_64"]
        peers = stored(reference.name)
        rows += [
            Row(
                f"{reference.name}: instructions",
                str(report.instructions),
                f"<= {reference.instructions}",
                report.instructions <= reference.instructions,
                _listed({name: peer.instructions for name, peer in peers.items()}),
            ),
            Row(
                f"{reference.name}: longest path",
                str(report.longest_path),
                peers=_listed({name: peer.longest_path for name, peer in peers.items()}),
            ),
            Row(
                f"{reference.name}: const-allow calls",
                str(constant),
                str(reference.constant),
                constant == reference.constant,
                _listed({name: peer.constant for name, peer in peers.items()}),
            ),
        ]
    return rows


def _listed(peers: dict[str, int]) -> str:
    return ", ".join(f"{name} {figure}" for name, figure in peers.items()) or "no peer here"


def differences() -> list[Row]:
    """What the peers' own comparison says: probes on which the filter differs from the policy."""
    rows: list[Row] = []
    for reference in REFERENCES:
        path = source_of(reference)
        if path is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "ours.bpf"
            file.write_bytes(filter_of(path).content)
            command = [sys.executable, "-B", "compare.py", path.name, str(file)]
            run = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
        said = run.stdout.partition(": ")[2].partition("\n")[0]
        rows.append(Row(f"{reference.name}: compare.py", said, "0 differ", run.returncode == 0))
    return rows


def times() -> list[Row]:
    """Times from the policy to the bytes, in process."""
    rows: list[Row] = []
    bars = {"docker-default": (15, 25)}
    for reference in REFERENCES:
        path = source_of(reference)
        if path is None:
            continue
        policy = load_policy(path)
        bare, whole = best(lambda policy=policy: generate(policy)), best(lambda policy=policy: proven(policy))
        peer = libseccomp(path)
        peers = "libseccomp has no word for it, or is not here"
        if peer is not None:
            program, _ = peer()
            peers = f"libseccomp {min(peer()[1] for _ in range(RUNS)) * 1000:.1f} ms ({len(program)} instructions)"
        for what, figure, bar in zip(
            ("generated", "generated, verified, proven"),
            (bare, whole),
            bars.get(reference.name, (None, None)),
            strict=True,
        ):
            met = None if bar is None else figure <= bar
            limit = "" if bar is None else f"<= {bar} ms"
            rows.append(Row(f"{reference.name}: {what}", f"{figure:.1f} ms", limit, met, peers))
            peers = "none proves"
    return rows


def many_rules(rules: int = 2000, calls: int = 200) -> FilterPolicy:
    """Rules on single values and ranges of 32-bit arguments, ten for each call."""
    origin = Origin("syscalls", "many rules")
    abi = ARCHES["x86_64"]
    listed = tuple(
        Rule(i % calls, f"call{i % calls}", errno_verdict(1), origin, Between(0, 32, 977 * i, 977 * i + (i % 2) * 100))
        for i in range(rules)
    )
    return FilterPolicy((AbiRules(abi, listed, ALLOW, origin),), KILL_PROCESS, origin)


def large() -> list[Row]:
    """A policy of 2,000 rules: the whole command has two seconds for it."""
    policy = many_rules()
    start = time.perf_counter()
    built = build(policy)
    seconds = time.perf_counter() - start
    return [
        Row(
            "2,000 rules, 200 calls: built, proven",
            f"{seconds:.2f} s ({len(built.program)} instructions)",
            "<= 2 s",
            seconds <= 2,
        )
    ]


ROWS: tuple[Callable[[], list[Row]], ...] = (
    sizes,
    differences,
    times,
    large,
    compile_rows,
    check_rows,
    api_rows,
    command_rows,
    sampling_rows,
    memory_rows,
)
"""A new figure is one function here."""

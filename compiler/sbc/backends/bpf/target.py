"""The filters of a profile: each is made, checked by the kernel's rules, and proven to decide as its policy does."""

from collections.abc import Hashable
from functools import lru_cache
from time import perf_counter

from sbc.backends.bpf.generate import generate
from sbc.backends.target import Artifact, OutputFile
from sbc.policy.origin import Block
from sbc.policy.policy import Policy
from sbc.policy.syscalls import FilterPolicy, Syscalls
from sbc.record import Record
from sbc_runtime.action import Verdict
from sbc_runtime.instruction import JA, JMP, RET, Program, pack

BITMAP_NUMBERS = 471
"""How many numbers of an ABI are counted as constant or not: 0..470, where the tables of Linux 7 end."""

NO_BITMAP = frozenset({"mips64el", "x32"})
"""ABIs for which the kernel keeps no bitmap: their `asm/seccomp.h` has no `SECCOMP_ARCH_NATIVE` or `_COMPAT`."""


_Meaning = tuple[Hashable, ...]
_BUILT: dict[_Meaning, tuple[Program, int, float]] = {}
"""The filters that this process has proven, by the meaning of their policies: many profiles share one list."""

_MOST_BUILT = 1000


class FilterDiffers(Exception):
    """A program does not decide as its policy: a mistake in the compiler, never in the profile.

    `call` is one call on which the two differ, `expected` and `got` are their verdicts.
    """

    def __init__(self, name: str, call: str, expected: str, got: str) -> None:
        super().__init__(
            f"internal error: the filter `{name}` is wrong: on {call} it gives {got}, the policy {expected}; "
            "nothing was written"
        )
        self.name = name
        self.call = call
        self.expected = expected
        self.got = got


class FilterReport(Record):
    """Figures of one filter, for people. `proof_ms` is a duration and enters no output.

    `const_allow` counts, for each ABI that the kernel has a bitmap for, the numbers 0..470 that it will allow from
    the bitmap, without running the filter.
    """

    name: str
    instructions: int
    longest_path: int
    const_allow: tuple[tuple[str, int], ...]
    proof_nodes: int
    proof_ms: float


class Filter(Record):
    """A filter that is proven equal to its policy."""

    policy: FilterPolicy
    program: Program
    proof_nodes: int
    proof_ms: float

    @property
    def content(self) -> bytes:
        """The raw bytes, in the byte order of its ABIs."""
        return pack(self.program, self.policy.abis[0].arch.byte_order)

    def report(self) -> FilterReport:
        """Give its figures. Counting costs more than making it: only `sbc check` and the benchmark ask."""
        arches = [abi.arch for abi in self.policy.abis if abi.arch.name not in NO_BITMAP]
        return FilterReport(
            self.policy.name,
            len(self.program),
            longest_path(self.program),
            tuple((arch.name, _const_allowed(self.program, arch.audit)) for arch in arches),
            self.proof_nodes,
            self.proof_ms,
        )


@lru_cache(_MOST_BUILT)
def _const_allowed(program: Program, audit: int) -> int:
    from sbc.backends.bpf.const_allow import const_allow  # noqa: PLC0415

    return len(const_allow(program, audit, range(BITMAP_NUMBERS)))


def longest_path(program: Program) -> int:
    """Give the most instructions that one call can take. Jumps go forward only, so one sweep from the end tells."""
    steps = [0] * (len(program) + 1)
    for place in range(len(program) - 1, -1, -1):
        instruction = program[place]
        kind = instruction.code & 0x07
        if kind == RET:
            steps[place] = 1
        elif kind != JMP:
            steps[place] = 1 + steps[place + 1]
        elif instruction.code & 0xF0 == JA:
            steps[place] = 1 + steps[place + 1 + instruction.k]
        else:
            steps[place] = 1 + max(steps[place + 1 + instruction.jt], steps[place + 1 + instruction.jf])
    return steps[0]


def build(policy: FilterPolicy) -> Filter:
    """Make, verify and prove one filter, or give the one that was made of the same before; raises as `proven` does."""
    meaning = _meaning(policy)
    if (known := _BUILT.get(meaning)) is None:
        known = proven(policy)
        if len(_BUILT) >= _MOST_BUILT:
            _BUILT.clear()
        _BUILT[meaning] = known
    return Filter(policy, *known)


def proven(policy: FilterPolicy) -> tuple[Program, int, float]:
    """Make, verify and prove one filter: give it, the proof's nodes, and the milliseconds that it took.

    `generate.TooLarge` where the kernel takes no filter of that size; `decision.table.TooComplex` where the proof
    runs out of its budget; `FilterDiffers` and `verifier.Refused` where the compiler itself is wrong.
    """
    from sbc.decision.prove import Counterexample, prove  # noqa: PLC0415
    from sbc_runtime.verifier import verify  # noqa: PLC0415

    program = generate(policy)
    verify(program)
    start = perf_counter()
    proof = prove(policy, program)
    milliseconds = (perf_counter() - start) * 1000
    if isinstance(proof, Counterexample):
        call = proof.call or f"call {proof.number}"
        arguments = ", ".join(f"{value:#x}" for value in proof.args)
        raise FilterDiffers(
            policy.name,
            f"`{call}({arguments})` of architecture {proof.audit:#x}",
            _in_words(proof.expected),
            _in_words(proof.got),
        )
    return program, proof.nodes, milliseconds


def _meaning(policy: FilterPolicy) -> _Meaning:
    """Give all of a policy that a filter is made from and held to: everything but where it is written."""
    abis = (
        (
            abi.arch.name,
            tuple((rule.number, rule.call, rule.verdict, rule.condition) for rule in abi.rules),
            abi.default,
            abi.newer and (abi.newer.low, abi.newer.high, abi.newer.verdict),
        )
        for abi in policy.abis
    )
    return (policy.foreign, *abis)


def _in_words(verdict: Verdict) -> str:
    return f"{verdict.action.word} {verdict.data}" if verdict.data else verdict.action.word


class BpfTarget:
    """One `.bpf` file for each filter of the `syscalls` block."""

    @property
    def name(self) -> str:
        """The word that names it after `--target`."""
        return "bpf"

    @property
    def blocks(self) -> frozenset[Block]:
        """It is responsible for system calls alone."""
        return frozenset({"syscalls"})

    def filters(self, syscalls: Syscalls) -> tuple[Filter, ...]:
        """Build every filter of a profile."""
        return tuple(build(one) for one in syscalls.filters)

    def emit(self, policy: Policy) -> Artifact:
        """Give the filters as files `NAME.ABI.bpf`; every verdict can be said, so nothing is lost."""
        return self.artifact(policy.name, self.filters(policy.syscalls))

    def artifact(self, profile: str, filters: tuple[Filter, ...]) -> Artifact:
        """Give the files of filters that are already built."""
        files = tuple(OutputFile(f"{profile}.{one.policy.name}.bpf", one.content) for one in filters)
        return Artifact(files, notes=() if files else ("`syscalls none`: no filter is written",))

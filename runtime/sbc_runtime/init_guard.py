"""The guard of init: a filter that keeps the command's hands off init, which has the command's own user id.

What a process may do to another one of its user id without looking into it (prlimit(2), sched_setscheduler(2),
setpriority(2) and the like: `check_prlimit_permission`, `kernel/sys.c`; `check_same_owner`, `kernel/sched`) would be
enough to end init or to starve it; what looks into it (ptrace(2), process_vm_writev(2)) is refused to the command once
more. Process 1 is init; nothing else of the sandbox is touched. The command gets the guard before the profile's filter,
whose stricter verdicts stand.

Each such call names a process by its first or second argument, of which the kernel takes the low 32 bits, and fails
with EPERM where that is 1. setpriority(2) and ioprio_set(2) can also name a group or a user: they may name a process
only. An ABI that `arch.py` does not know kills.
"""

from functools import cache

from sbc_runtime.arch import ARCHES, X32_BIT, Arch
from sbc_runtime.filter_parts import ALLOW, EQUAL, LOAD, REFUSE, by_architecture
from sbc_runtime.instruction import ALU, AND, OFFSET_NR, Instruction, K, low_word_offset
from sbc_runtime.records import NamedTuple

_INIT = 1

FIRST = (
    "prlimit64", "sched_setscheduler", "sched_setparam", "sched_setaffinity", "sched_setattr", "process_vm_readv",
    "process_vm_writev", "move_pages", "migrate_pages", "get_robust_list", "pidfd_open",
)  # fmt: skip
"""Calls whose first argument is a process. A pidfd of init serves process_madvise(2), pidfd_getfd(2) and setns(2)."""

SECOND = ("kcmp", "ptrace", "perf_event_open")
"""Calls whose second argument is one; of kcmp(2) the first is, too."""

PRIORITIES = ("setpriority", "ioprio_set")
"""Calls that say by their first argument what the second one is."""

_PROCESS = {"setpriority": 0, "ioprio_set": 1}
"""`PRIO_PROCESS` (`include/uapi/linux/resource.h`), `IOPRIO_WHO_PROCESS` (`include/uapi/linux/ioprio.h`)."""

_GENERIC = (261, 119, 118, 122, 274, 270, 271, 239, 238, 100, 434, 272, 117, 241, 140, 30)
NUMBERS: dict[str, tuple[int, ...]] = {
    "x86_64": (302, 144, 142, 203, 314, 310, 311, 279, 256, 274, 434, 312, 101, 298, 141, 251),
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
    "s390x": (334, 156, 154, 239, 345, 340, 341, 310, 287, 305, 434, 343, 26, 331, 97, 282),
    "ppc64le": (325, 156, 154, 222, 355, 351, 352, 301, 258, 299, 434, 354, 26, 319, 97, 273),
    "arm": (369, 156, 154, 241, 380, 376, 377, 344, 400, 339, 434, 378, 26, 364, 97, 314),
    "i386": (340, 156, 154, 241, 351, 347, 348, 317, 294, 312, 434, 349, 26, 336, 97, 289),
    # Without `X32_BIT`.
    "x32": (302, 144, 142, 203, 314, 539, 540, 533, 256, 531, 434, 312, 521, 298, 141, 251),
    "loongarch64": _GENERIC,
    "mips64el": (5297, 5141, 5139, 5195, 5309, 5304, 5305, 5267, 5246, 5269, 5434, 5306, 5099, 5292, 5138, 5273),
}
"""The numbers of `FIRST`, `SECOND` and `PRIORITIES`, in this order, per ABI (`arch/*/tools/syscall*.tbl`)."""


class _Test(NamedTuple):
    """What is loaded, and the value for which the call is refused; or, `unless`, for any other."""

    argument: int
    value: int
    unless: bool = False


def _tests(call: str) -> tuple[_Test, ...]:
    if call in PRIORITIES:
        return (_Test(0, _PROCESS[call], unless=True), _Test(1, _INIT))
    if call == "kcmp":
        return (_Test(0, _INIT), _Test(1, _INIT))
    return (_Test(1 if call in SECOND else 0, _INIT),)


@cache
def init_guard(arch: Arch) -> bytes:
    """Give the filter for a kernel whose native ABI is `arch`, for every ABI that it serves."""
    blocks: dict[int, list[Instruction]] = {}
    for one in ARCHES.values():
        if one.kernel == arch.kernel and one.byte_order == arch.byte_order:
            blocks.setdefault(one.audit, []).extend(_block(one))
    for audit, block in blocks.items():
        # Older kernels take the numbers of x32 with and without its bit.
        mask = [Instruction(ALU | AND | K, 0, 0, X32_BIT - 1)] if audit == ARCHES["x32"].audit else []
        blocks[audit] = [Instruction(LOAD, 0, 0, OFFSET_NR), *mask, *block, ALLOW]
    return by_architecture(blocks, arch.byte_order)


def _block(arch: Arch) -> list[Instruction]:
    """Give the tests of one ABI's calls, with the call's number in the accumulator before and after each."""
    block: list[Instruction] = []
    by_tests: dict[tuple[_Test, ...], list[int]] = {}
    for call, number in zip((*FIRST, *SECOND, *PRIORITIES), NUMBERS[arch.name], strict=True):
        by_tests.setdefault(_tests(call), []).append(number)
    for tests, numbers in by_tests.items():
        checks: list[Instruction] = []
        for one in tests:
            checks.append(Instruction(LOAD, 0, 0, low_word_offset(one.argument, arch.byte_order)))
            checks.append(Instruction(EQUAL, *((1, 0) if one.unless else (0, 1)), one.value))
            checks.append(REFUSE)
        checks.append(ALLOW)
        last = len(numbers) - 1
        for at, number in enumerate(numbers):
            block.append(Instruction(EQUAL, last - at, 0 if at < last else len(checks), number))
        block += checks
    return block

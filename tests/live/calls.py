"""Random and boundary calls for a filter: words at every constant of the program, and one off, and at the extremes."""

from random import Random

from sbc_runtime.instruction import Program
from tests.live.live import Call

EXTREMES = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
GARBAGE = (0, 0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xDEADBEEF)
X32 = 0x40000000
UNFILTERED = (335, 336)
"""uretprobe(2) and uprobe(2), which newer kernels let through whatever a filter says (`seccomp_uprobe_exception`)."""


def boundary_words(program: Program) -> list[int]:
    """Give the words around a program's constants."""
    found: set[int] = set(EXTREMES)
    for instruction in program:
        found.update((instruction.k + near) & 0xFFFFFFFF for near in (-1, 0, 1))
    return sorted(found)


def random_calls(program: Program, count: int, seed: int, *, compat: bool = False) -> list[Call]:
    """Give calls whose words are mostly at boundaries; half of the numbers are small, some are x32's."""
    random = Random(seed)  # noqa: S311
    words = boundary_words(program)

    def word() -> int:
        return random.choice(words) if random.random() < 0.8 else random.getrandbits(32)

    def argument() -> int:
        return word() | (random.choice(GARBAGE) if random.random() < 0.7 else word()) << 32

    def number() -> int:
        chosen = random.randrange(520) if random.random() < 0.5 else word()
        chosen = chosen | X32 if random.random() < 0.15 else chosen
        return 0 if chosen in UNFILTERED and not compat else chosen

    return [
        Call(number() | random.choice(GARBAGE) << 32, tuple(argument() for _ in range(6)), compat) for _ in range(count)
    ]

"""The ABIs that the tables describe."""

ABIS = (
    "x86_64",
    "aarch64",
    "riscv64",
    "s390x",
    "ppc64le",
    "arm",
    "i386",
    "x32",
    "loongarch64",
    "mips64el",
)
"""Every supported ABI, by the name used everywhere. `mips64el` is n64; `x32` numbers have bit 30 set."""

WORD_BITS = {abi: 32 if abi in ("arm", "i386") else 64 for abi in ABIS}
"""The bits of a register that holds a `long`. x32 calls reach entry points that read 64-bit registers."""

X32_BIT = 0x40000000
"""What the kernel adds to the number of every x32 call."""


def check(abi: str) -> str:
    """Return `abi`, or raise ValueError where it is no supported ABI."""
    if abi not in ABIS:
        raise ValueError(f"unknown ABI {abi!r}; known are {', '.join(ABIS)}")
    return abi

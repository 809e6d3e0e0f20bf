"""The ABIs, and where each one's facts stand in a Linux tree, in the headers and in the package `system-calls`."""

from typing import NamedTuple


class Abi(NamedTuple):
    """One row: how the sources name this ABI.

    `symbols` are the entries of its Kconfig file that are on in a kernel with this ABI.
    """

    name: str
    package: str
    table: str
    rows: frozenset[str]
    folder: str
    word: int
    bit: int
    symbols: frozenset[str]
    triplet: str
    macros: tuple[str, ...]
    flags: tuple[str, ...]


GENERIC = "scripts/syscall.tbl"
NEW = frozenset({"common", "64", "memfd_secret"})
LP64 = ("__LP64__=1", "__SIZEOF_LONG__=8", "__SIZEOF_POINTER__=8")


def _abi(  # noqa: PLR0917 (a row of a table)
    name: str,
    package: str,
    table: str,
    rows: frozenset[str],
    folder: str,
    symbols: str,
    triplet: str,
    macros: tuple[str, ...],
    flags: tuple[str, ...] = ("-m64",),
    word: int = 64,
    bit: int = 0,
) -> Abi:
    return Abi(name, package, table, rows, folder, word, bit, frozenset(symbols.split()), triplet, macros, flags)


X86 = "arch/x86/entry/syscalls/syscall_64.tbl"
ALL = (
    _abi("x86_64", "x86_64", X86, frozenset({"common", "64"}), "x86", "X86 X86_64", "x86_64-linux-gnu",
         (*LP64, "__x86_64__=1")),
    _abi("aarch64", "arm64", "arch/arm64/tools/syscall_64.tbl", NEW | {"renameat", "rlimit"}, "arm64", "ARM64",
         "aarch64-linux-gnu", (*LP64, "__aarch64__=1")),
    _abi("riscv64", "riscv64", GENERIC, NEW | {"riscv", "rlimit"}, "riscv", "RISCV", "riscv64-linux-gnu",
         (*LP64, "__riscv=1", "__riscv_xlen=64")),
    _abi("s390x", "s390x", "arch/s390/kernel/syscalls/syscall.tbl", frozenset({"common", "64"}), "s390",
         "S390", "s390x-linux-gnu", (*LP64, "__s390x__=1", "__s390__=1")),
    _abi("ppc64le", "powerpc64", "arch/powerpc/kernel/syscalls/syscall.tbl", frozenset({"common", "nospu", "64"}),
         "powerpc", "PPC PPC64", "powerpc64le-linux-gnu",
         (*LP64, "__powerpc64__=1", "__powerpc__=1", "_CALL_ELF=2", "__LITTLE_ENDIAN__=1")),
    _abi("arm", "arm", "arch/arm64/tools/syscall_32.tbl", frozenset({"common"}), "arm", "ARM", "arm-linux-gnueabihf",
         ("__arm__=1", "__ARM_EABI__=1", "__ARMEL__=1"), ("-m32", "-malign-double"), word=32),
    _abi("i386", "i386", "arch/x86/entry/syscalls/syscall_32.tbl", frozenset({"i386"}), "x86", "X86 X86_32 COMPAT_32",
         "i386-linux-gnu", ("__i386__=1",), ("-m32",), word=32),
    _abi("x32", "x32", X86, frozenset({"common", "x32"}), "x86", "X86 X86_64", "x86_64-linux-gnux32",
         ("__x86_64__=1", "__ILP32__=1"), ("-mx32",), bit=0x40000000),
    _abi("loongarch64", "loongarch64", GENERIC, NEW, "loongarch", "LOONGARCH", "loongarch64-linux-gnu",
         (*LP64, "__loongarch__=1", "__loongarch_lp64=1", "__loongarch_grlen=64")),
    _abi("mips64el", "mips64", "arch/mips/kernel/syscalls/syscall_n64.tbl", frozenset({"common", "n64"}), "mips",
         "MIPS 64BIT", "mips64el-linux-gnuabi64",
         (*LP64, "__mips__=1", "__mips=64", "__MIPSEL__=1", "_MIPS_SIM=3", "_ABI64=3", "_ABIN32=2", "_ABIO32=1",
          "_MIPS_SZLONG=64", "_MIPS_SZPTR=64", "_MIPS_SZINT=32", "_MIPS_SIM_ABI64=3", "_MIPS_SIM_NABI32=2",
          "_MIPS_SIM_ABI32=1")),
)  # fmt: skip
BY_NAME = {abi.name: abi for abi in ALL}

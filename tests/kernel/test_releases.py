"""Which kernel brought what, and where each kernel's tables end."""

import pytest

from sbc.kernel.abi import ABIS, X32_BIT
from sbc.kernel.numbers import in_main_table, numbers
from sbc.kernel.releases import known_releases, last_number, since

YOUNG = {"riscv64": "4.15", "loongarch64": "5.19"}
# Linux 5.1 gave all ABIs one series of numbers: the last of each kernel is the same everywhere.
LAST = {
    "5.1": 427, "5.2": 433, "5.6": 438, "5.8": 439, "5.10": 440, "5.11": 441, "5.12": 442, "5.13": 446,
    "5.15": 448, "5.16": 449, "5.17": 450, "6.1": 450, "6.5": 451, "6.6": 453, "6.7": 456, "6.8": 461, "6.9": 461,
    "6.10": 462, "6.12": 462, "6.13": 466, "6.15": 467, "6.17": 469, "6.19": 470, "7.0": 471, "7.2": 471,
}  # fmt: skip


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@pytest.mark.parametrize("abi", ABIS)
def test_the_last_number_since_all_abis_share_a_series(abi: str) -> None:
    base = {"mips64el": 5000, "x32": X32_BIT}.get(abi, 0)
    for kernel, last in LAST.items():
        if _order(kernel) >= _order(YOUNG.get(abi, "0")):
            assert last_number(abi, kernel) == base + last, kernel


@pytest.mark.parametrize(
    ("abi", "kernel", "call"),
    [
        ("x86_64", "3.17", "kexec_file_load"), ("x86_64", "3.19", "execveat"), ("x86_64", "4.3", "membarrier"),
        ("x86_64", "4.10", "pkey_free"), ("x86_64", "4.17", "statx"), ("x86_64", "4.18", "rseq"),
        ("x86_64", "5.3", "clone3"), ("x86_64", "5.14", "memfd_secret"), ("s390x", "5.14", "landlock_restrict_self"),
        ("i386", "4.3", "membarrier"), ("i386", "4.12", "arch_prctl"), ("aarch64", "4.9", "pkey_free"),
        ("riscv64", "4.15", "statx"), ("ppc64le", "4.18", "io_pgetevents"), ("arm", "4.11", "statx"),
    ],
)  # fmt: skip
def test_the_last_call_of_older_kernels(abi: str, kernel: str, call: str) -> None:
    assert last_number(abi, kernel) == numbers(abi)[call]


@pytest.mark.parametrize("abi", ABIS)
def test_the_last_number_never_falls_and_stays_in_the_main_table(abi: str) -> None:
    kernels = [kernel for kernel in known_releases() if _order(kernel) >= _order(YOUNG.get(abi, "0"))]
    ends = [last_number(abi, kernel) for kernel in kernels]
    assert ends == sorted(ends)
    assert all(in_main_table(abi, end) for end in ends)
    assert ends[-1] == max(number for number in numbers(abi).values() if in_main_table(abi, number))


@pytest.mark.parametrize("kernel", ["6", "6.12.1", "2.6.39", "9.9", "", "next"])
def test_an_unknown_kernel_is_an_error_that_names_the_known(kernel: str) -> None:
    with pytest.raises(ValueError, match=r"known are 3\.17 to 7\.2"):
        last_number("x86_64", kernel)


def test_a_kernel_that_is_older_than_the_abi_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"linux 5\.10 has no loongarch64: it came with 5\.19"):
        last_number("loongarch64", "5.10")


@pytest.mark.parametrize(
    ("abi", "call", "kernel"),
    [
        ("x86_64", "socket", "2.0"), ("i386", "socket", "4.3"), ("x86_64", "openat2", "5.6"),
        ("x86_64", "setxattrat", "6.13"), ("riscv64", "bpf", "4.15"), ("aarch64", "socketcall", None),
        ("x86_64", "tuxcall", None), ("x86_64", "fchmodat2", "6.6"), ("arm", "clock_settime64", "5.1"),
    ],
)  # fmt: skip
def test_since(abi: str, call: str, kernel: str | None) -> None:
    assert since(abi, call) == kernel

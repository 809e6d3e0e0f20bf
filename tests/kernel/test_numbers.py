"""Numbers: against the package that they come from, the headers of this machine, and known facts."""

import importlib
import re
from pathlib import Path
from typing import cast

import pytest

from sbc.kernel.abi import ABIS, X32_BIT
from sbc.kernel.numbers import all_calls, expand_glob, in_main_table, names_of, numbers

PACKAGE = {"aarch64": "arm64", "ppc64le": "powerpc64", "mips64el": "mips64"}
HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "i386": "/usr/include/x86_64-linux-gnu/asm/unistd_32.h",
    "x32": "/usr/include/x86_64-linux-gnu/asm/unistd_x32.h",
}


@pytest.mark.parametrize("abi", ABIS)
def test_every_number_of_the_package_is_known(abi: str) -> None:
    name = PACKAGE.get(abi, abi)
    module = importlib.import_module(f"system_calls.tables.{name}")
    packaged = cast("dict[str, int]", getattr(module, f"syscalls_{name}"))
    assert {call: numbers(abi).get(call) for call in packaged} == packaged


@pytest.mark.parametrize("abi", ABIS)
def test_no_two_calls_share_a_number(abi: str) -> None:
    assert len(names_of(abi)) == len(numbers(abi))
    assert all(numbers(abi)[call] == number for number, call in names_of(abi).items())


@pytest.mark.parametrize("abi", HEADERS)
def test_the_headers_of_this_machine_agree(abi: str) -> None:
    path = Path(HEADERS[abi])
    if not path.exists():
        pytest.skip(f"no {path} here (Debian's linux-libc-dev for amd64)")
    found = re.findall(r"#define __NR_(\w+) (?:\(__X32_SYSCALL_BIT \+ )?(\d+)\)?", path.read_text())
    bit = X32_BIT if abi == "x32" else 0
    assert len(found) > 300
    assert {call: numbers(abi).get(call) for call, _ in found} == {call: int(number) | bit for call, number in found}


@pytest.mark.parametrize(
    ("abi", "call", "number"),
    [
        ("x86_64", "_sysctl", 156), ("x86_64", "nfsservctl", 180), ("x86_64", "uselib", 134),
        ("x86_64", "create_module", 174), ("x86_64", "query_module", 178), ("x86_64", "get_kernel_syms", 177),
        ("x86_64", "lookup_dcookie", 212), ("aarch64", "nfsservctl", 42), ("i386", "create_module", 127),
        ("s390x", "query_module", 167), ("arm", "_sysctl", 149), ("arm", "uselib", 86),
        ("mips64el", "_sysctl", 5152), ("ppc64le", "nfsservctl", 168), ("riscv64", "lookup_dcookie", 18),
    ],
)  # fmt: skip
def test_a_removed_call_keeps_its_number(abi: str, call: str, number: int) -> None:
    assert numbers(abi)[call] == number


@pytest.mark.parametrize(("abi", "call"), [("aarch64", "_sysctl"), ("x32", "uselib"), ("arm", "socketcall")])
def test_a_call_that_an_abi_never_had_has_no_number(abi: str, call: str) -> None:
    assert call not in numbers(abi)
    assert call in all_calls()


def test_every_x32_number_has_bit_30_and_no_other_abi_has_it() -> None:
    for abi in ABIS:
        assert all(bool(number & X32_BIT) is (abi == "x32") for number in names_of(abi))
    assert numbers("x32")["ioctl"] == X32_BIT | 514
    assert numbers("x32")["read"] == X32_BIT


def test_the_private_ranges_are_outside_the_main_table() -> None:
    outside = {abi: {call for call, number in numbers(abi).items() if not in_main_table(abi, number)} for abi in ABIS}
    assert outside.pop("arm") == {"breakpoint", "cacheflush", "usr26", "usr32", "set_tls", "get_tls"}
    x32 = outside.pop("x32")
    assert len(x32) == 36
    assert {"rt_sigaction", "pwritev2"} <= x32
    assert not any(outside.values())


def test_an_x86_64_number_is_not_in_the_table_of_x32() -> None:
    assert not in_main_table("x32", 0)


def test_all_calls_are_those_of_all_abis() -> None:
    assert all_calls() == {call for abi in ABIS for call in numbers(abi)}


def test_a_glob_gives_sorted_calls_and_nothing_else() -> None:
    assert expand_glob("io_uring_*") == ("io_uring_enter", "io_uring_register", "io_uring_setup")
    assert expand_glob("open*a*t") == ("open_by_handle_at", "openat")
    assert expand_glob("*o*_*_at*") == ("name_to_handle_at", "open_by_handle_at", "open_tree_attr")
    assert expand_glob("openat*at") == ()
    assert expand_glob("open?t") == ()
    assert expand_glob("[") == ()
    assert expand_glob("OPEN*") == ()


def test_an_unknown_abi_is_an_error_that_names_the_known() -> None:
    with pytest.raises(ValueError, match="unknown ABI 'amd64'; known are x86_64, aarch64"):
        numbers("amd64")

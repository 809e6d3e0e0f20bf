"""The committed tables against their sources, where these are at hand (see compiler/kernel_tables/README.md)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sbc.kernel.numbers import in_main_table, names_of
from sbc.kernel.releases import since
from sbc.kernel.signature import signature
from tests.shared_data import ROOT

DATA = ROOT / "compiler" / "sbc" / "kernel" / "data"
GENERATOR = ROOT / "compiler" / "kernel_tables" / "generate.py"
X86 = "arch/x86/entry/syscalls"
TABLES = {
    "x86_64": (f"{X86}/syscall_64.tbl", "common 64"),
    "i386": (f"{X86}/syscall_32.tbl", "i386"),
    "arm": ("arch/arm/tools/syscall.tbl", "common"),
    "s390x": ("arch/s390/kernel/syscalls/syscall.tbl", "common 64"),
    "ppc64le": ("arch/powerpc/kernel/syscalls/syscall.tbl", "common nospu 64"),
    "aarch64": ("arch/arm64/tools/syscall_64.tbl", "common 64 renameat rlimit memfd_secret"),
}
# The Kconfig file of each ABI and the entries of it that are on in a kernel with that ABI.
KCONFIG = {
    "x86_64": ("x86", "X86 X86_64"), "x32": ("x86", "X86 X86_64"), "i386": ("x86", "X86 X86_32 COMPAT_32"),
    "aarch64": ("arm64", "ARM64"), "arm": ("arm", "ARM"), "riscv64": ("riscv", "RISCV"), "s390x": ("s390", "S390"),
    "ppc64le": ("powerpc", "PPC PPC64"), "loongarch64": ("loongarch", "LOONGARCH"), "mips64el": ("mips", "MIPS"),
}  # fmt: skip
# What the definitions in kernel/fork.c and kernel/signal.c say under each setting.
CLONE = {
    "": "clone_flags newsp parent_tidptr child_tidptr tls",
    "CLONE_BACKWARDS": "clone_flags newsp parent_tidptr tls child_tidptr",
    "CLONE_BACKWARDS2": "newsp clone_flags parent_tidptr child_tidptr tls",
}
SIGSUSPEND = {"OLD_SIGSUSPEND": "mask", "OLD_SIGSUSPEND3": "unused1 unused2 mask"}
pytestmark = pytest.mark.slow


@pytest.fixture
def sources() -> Path:
    folder = Path(os.environ.get("SBC_KERNEL_SOURCES", "/nonexistent"))
    if not (folder / "linux-6.12").is_dir():
        pytest.skip("set SBC_KERNEL_SOURCES to the folder that compiler/kernel_tables/README.md describes")
    return folder


def test_the_generator_writes_what_is_committed(sources: Path, tmp_path: Path) -> None:
    trees = [part for name in ("6.12", "7.2", "6.1") for part in ("--tree", str(sources / f"linux-{name}"))]
    headers = [part for name in ("6.12", "7.2") for part in ("--headers", str(sources / f"libc-dev-{name}"))]
    manual = ["--manual", str(sources / "manpages-dev/usr/share/man/man2/syscalls.2.gz")]
    command = [sys.executable, str(GENERATOR), *trees, *headers, *manual, "--output", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert set(written) == {path.name for path in DATA.iterdir()}
    assert [name for name, text in written.items() if text != (DATA / name).read_text()] == []


@pytest.mark.parametrize("kernel", ["6.1", "6.12", "7.2"])
@pytest.mark.parametrize("abi", TABLES)
def test_a_kernel_has_the_calls_that_came_until_then(sources: Path, abi: str, kernel: str) -> None:
    path, kinds = TABLES[abi]
    table = sources / f"linux-{kernel}" / path
    if not table.exists():
        pytest.skip(f"linux {kernel} has no {path}")
    rows = (line.split("#")[0].split() for line in table.read_text().splitlines())
    present = {int(row[0]) for row in rows if len(row) > 2 and row[1] in kinds.split()}
    limit = tuple(map(int, kernel.split(".")))
    for number, call in names_of(abi).items():
        version = since(abi, call)
        if version is not None and in_main_table(abi, number):
            assert (number in present) == (tuple(map(int, version.split("."))) <= limit), call


def _selected(path: Path, entries: str, of: str) -> list[str]:
    """The settings starting with `of` that these entries of a Kconfig file select without a condition."""
    found: list[str] = []
    entry = ""
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] in (["config"], ["menuconfig"]):
            entry = words[1]
        elif words[:1] == ["select"] and words[1].startswith(of) and entry in entries.split() and "if" not in words:
            found.append(words[1])
    return found


@pytest.mark.parametrize("kernel", ["6.1", "6.12", "7.2"])
@pytest.mark.parametrize("abi", KCONFIG)
def test_the_settings_of_a_kernel_decide_the_order_of_arguments(sources: Path, abi: str, kernel: str) -> None:
    folder, entries = KCONFIG[abi]
    path = sources / f"linux-{kernel}" / "arch" / folder / "Kconfig"
    assert _names(abi, "clone") == CLONE["".join(_selected(path, entries, "CLONE_BACKWARDS"))]
    if signature(abi, "sigsuspend") is not None:
        assert _names(abi, "sigsuspend") == SIGSUSPEND["".join(_selected(path, entries, "OLD_SIGSUSPEND"))]


def _names(abi: str, call: str) -> str:
    found = signature(abi, call)
    assert found is not None
    return " ".join(read.name for read in found.registers if read is not None)

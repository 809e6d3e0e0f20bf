"""Constants: against this machine's headers, and facts of each ABI."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sbc.kernel.abi import ABIS
from sbc.kernel.constants import constant_origin, constants, errno, families, family_of, members

# One header each, with constants that need nothing else: what uapi and libc both know.
HEADERS = """
linux/fcntl.h linux/sched.h linux/mount.h linux/prctl.h linux/ptrace.h linux/futex.h linux/memfd.h linux/kcmp.h
linux/seccomp.h linux/keyctl.h linux/personality.h linux/reboot.h linux/io_uring.h linux/landlock.h linux/stat.h
linux/kd.h linux/vt.h linux/sockios.h linux/fs.h linux/random.h linux/inotify.h linux/fanotify.h linux/netlink.h
linux/in.h linux/in6.h linux/tcp.h linux/eventpoll.h linux/mempolicy.h linux/bpf.h linux/loop.h linux/wait.h
linux/membarrier.h linux/perf_event.h asm/errno.h asm/ioctls.h asm/termbits.h asm/mman.h asm/signal.h asm/socket.h
asm/prctl.h asm/resource.h linux/time.h linux/ipc.h
"""


def _native(abi_flag: str, folder: Path) -> dict[str, int]:
    gcc = shutil.which("gcc")
    if gcc is None or platform.machine() != "x86_64":
        pytest.skip("no gcc for x86_64 here")
    known = {**constants("x86_64"), **errno("x86_64")}
    names = [name for name in known if not name.startswith(("MSGQ", "ENOTSUP"))]
    source = folder / "constants.c"
    include = "".join(f"#include <{header}>\n" for header in HEADERS.split())
    # Names that these headers lack drop out in the preprocessor; so do those enumerators that are no macros too.
    tests = "".join(f"#ifdef {name}\nlong long value_{name} = (long long)({name});\n#endif\n" for name in names)
    source.write_text(include + "#include <stddef.h>\ntypedef __kernel_long_t time_t;\n" + tests)
    command = [gcc, abi_flag, "-I/usr/include/x86_64-linux-gnu", "-w", "-S", "-O0", "-o", "-", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "asm/errno.h: No such file" in done.stderr or "linux/fcntl.h: No such file" in done.stderr:
        pytest.skip("no kernel headers here (Debian's linux-libc-dev)")
    assert done.returncode == 0, done.stderr[:2000]
    return _values(done.stdout)


def _values(assembly: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, body in re.findall(r"^value_(\w+):\n((?:\t\.(?:quad|long|zero)\t-?\d+\n)+)", assembly, re.M):
        words = re.findall(r"\.(quad|long|zero)\t(-?\d+)", body)
        value = 0
        for index, (kind, number) in enumerate(words):
            value += 0 if kind == "zero" else (int(number) & (1 << 64 if kind == "quad" else 1 << 32) - 1) << 32 * index
        found[name] = value - (1 << 64) if value >> 63 else value
    return found


@pytest.mark.parametrize(("abi", "flag", "least"), [("x86_64", "-m64", 1200), ("i386", "-m32", 1200)])
def test_the_compiler_gives_the_same_values(abi: str, flag: str, least: int, tmp_path: Path) -> None:
    native = _native(flag, tmp_path)
    ours = {**constants(abi), **errno(abi)}
    compared = {name for name in native if name in ours}
    assert len(compared) > least
    differing = {name: (native[name], ours[name]) for name in compared if native[name] != ours[name]}
    assert differing == {}


@pytest.mark.parametrize(
    ("abi", "name", "value"),
    [
        ("x86_64", "AF_ALG", 38), ("x86_64", "CLONE_NEWUSER", 0x10000000), ("x86_64", "SOCK_STREAM", 1),
        ("mips64el", "SOCK_STREAM", 2), ("mips64el", "SOCK_DGRAM", 1), ("mips64el", "SOCK_NONBLOCK", 0x80),
        ("x86_64", "O_DIRECTORY", 0o200000), ("aarch64", "O_DIRECTORY", 0o40000), ("arm", "O_DIRECTORY", 0o40000),
        ("ppc64le", "O_DIRECTORY", 0o40000), ("mips64el", "O_CREAT", 0x100), ("riscv64", "O_DIRECTORY", 0o200000),
        ("x86_64", "O_TMPFILE", 0o20200000), ("x86_64", "O_LARGEFILE", 0o100000), ("x86_64", "TIOCSTI", 0x5412),
        ("ppc64le", "TIOCSTI", 0x5412), ("mips64el", "TIOCSTI", 0x5472), ("x86_64", "TCGETS", 0x5401),
        ("ppc64le", "TCGETS", 0x402C7413), ("mips64el", "MAP_ANONYMOUS", 0x800), ("x86_64", "MAP_ANONYMOUS", 0x20),
        ("mips64el", "SIGCHLD", 18), ("x86_64", "SIGCHLD", 17), ("x86_64", "AT_FDCWD", -100),
        ("x86_64", "ADDR_NO_RANDOMIZE", 0x40000), ("x86_64", "BPF_PROG_LOAD", 5), ("x86_64", "MNT_DETACH", 2),
        ("s390x", "POSIX_FADV_DONTNEED", 6), ("x86_64", "POSIX_FADV_DONTNEED", 4), ("x86_64", "SYS_ACCEPT4", 18),
        ("x86_64", "SHMAT", 21), ("x86_64", "SECCOMP_SET_MODE_FILTER", 1), ("x86_64", "ARCH_SET_FS", 0x1002),
        ("x86_64", "KDSIGACCEPT", 0x4B4E), ("x86_64", "TIOCLINUX", 0x541C), ("x86_64", "PR_SET_NO_NEW_PRIVS", 38),
        ("x86_64", "O_ASYNC", 0o20000), ("x86_64", "R_OK", 4), ("x86_64", "MAP_SHARED", 1),
    ],
)  # fmt: skip
def test_values(abi: str, name: str, value: int) -> None:
    assert constants(abi)[name] == value


@pytest.mark.parametrize(
    ("abi", "name", "value"),
    [
        ("x86_64", "ENOSYS", 38), ("mips64el", "ENOSYS", 89), ("mips64el", "EAFNOSUPPORT", 124),
        ("ppc64le", "EDEADLOCK", 58), ("x86_64", "EDEADLOCK", 35), ("x86_64", "ENOTSUP", 95),
        ("aarch64", "EPERM", 1), ("s390x", "EAFNOSUPPORT", 97),
    ],
)  # fmt: skip
def test_error_numbers(abi: str, name: str, value: int) -> None:
    assert errno(abi)[name] == value


@pytest.mark.parametrize("abi", ABIS)
def test_an_error_number_fits_what_a_filter_can_return(abi: str) -> None:
    assert len(errno(abi)) > 130
    assert all(1 <= number <= 4095 for number in errno(abi).values())
    assert all(re.fullmatch("E[A-Z0-9]+", name) for name in errno(abi))


def test_a_constant_that_an_abi_lacks_is_not_there() -> None:
    assert "ARCH_SET_FS" not in constants("aarch64")
    assert "ARCH_SET_FS" in members("ARCH")
    assert "MAP_32BIT" in constants("x86_64")
    assert "MAP_32BIT" not in constants("riscv64")


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("O_WRONLY", "a flag of open(2)"), ("AF_UNIX", "an address family"), ("EPERM", "an error number"),
        ("CLONE_NEWNS", "a flag of clone(2)"), ("MSG_NOERROR", "a flag or command of message queues"),
        ("MSG_PEEK", "a flag of send(2) and recv(2)"), ("NO_SUCH", None), ("", None),
    ],
)  # fmt: skip
def test_the_origin_of_a_constant(name: str, origin: str | None) -> None:
    assert constant_origin(name) == origin


def test_every_constant_has_one_family() -> None:
    owners: dict[str, str] = {}
    for family in families():
        for name in members(family):
            assert owners.setdefault(name, family) == family
            assert family_of(name) == family
    assert set(owners) == {name for abi in ABIS for name in (*constants(abi), *errno(abi))}


def test_the_new_namespaces_are_what_clone_takes() -> None:
    names = ["NEWNS", "NEWCGROUP", "NEWUTS", "NEWIPC", "NEWUSER", "NEWPID", "NEWNET"]
    for abi in ABIS:
        assert sum(constants(abi)[f"CLONE_{name}"] for name in names) == 0x7E020000

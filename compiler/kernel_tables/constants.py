"""Read the named constants of one ABI from the kernel's headers.

The host's C compiler reads the headers of the ABI with only that ABI's macros defined, and says what each constant is
worth in the assembly that it writes: nothing of the ABI is run.
"""

import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from abis import Abi
from families import FAMILIES

# What programs know from libc alone, as the kernel sees it, and definitions that the kernel keeps in private headers.
PRIVATE = {
    "socket.h": (r"#define\s+(?:AF|PF|SOL|MSG)_\w+\s+\S.*", "include/linux/socket.h"),
    "fs.h": (r"#define\s+(?:MNT_(?:FORCE|DETACH|EXPIRE)|UMOUNT_NOFOLLOW)\s+\S.*", "include/linux/fs.h"),
    "splice.h": (r"#define\s+SPLICE_F_\w+\s+\S.*", "include/linux/splice.h"),
    "swap.h": (r"#define\s+SWAP_FLAG_\w+\s+\S.*", "include/linux/swap.h"),
    "syslog.h": (r"#define\s+SYSLOG_ACTION_\w+\s+\S.*", "include/linux/syslog.h"),
    "net.h": (r"enum sock_shutdown_cmd \{[^}]*\};", "include/linux/net.h"),
}
SOCKET_TYPES = (r"enum sock_type \{[^}]*\};|#define\s+SOCK_(?:CLOEXEC|NONBLOCK)\s+\S.*", "include/linux/net.h")
MIPS_SOCKET_TYPES = (SOCKET_TYPES[0], "arch/mips/include/asm/socket.h")
LIBC = """
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define ENOTSUP EOPNOTSUPP
#define O_ASYNC FASYNC
#define O_RSYNC O_SYNC
#define MAP_ANON MAP_ANONYMOUS
#define SCHED_OTHER SCHED_NORMAL
#define PTRACE_PEEKUSER PTRACE_PEEKUSR
#define PTRACE_POKEUSER PTRACE_POKEUSR
#ifndef SIGCLD
#define SIGCLD SIGCHLD
#endif
"""
# What the kernel's headers ask libc for.
STUBS = {
    "sys/socket.h": "struct sockaddr { unsigned short sa_family; char sa_data[14]; };\n",
    "unistd.h": "int getpagesize(void);\ntypedef __kernel_size_t size_t;\ntypedef __kernel_long_t time_t;\n",
}
MARKER = re.compile(r'^# \d+ "([^"]*)"')
DEFINE = re.compile(r"^#define (\w+)(?: |$)")
ENUM = re.compile(r"\benum\s+(\w*)\s*\{([^}]*)\}", re.S)
FIRST = ("linux/types.h", "linux/socket.h", "linux/fcntl.h", "linux/if.h", "asm/termbits.h")


class Sources(NamedTuple):
    """Where headers come from: an unpacked linux-libc-dev and a source tree of the same kernel."""

    headers: Path
    tree: Path


def constants(many: Sequence[Sources], abi: Abi, scratch: Path) -> dict[str, dict[str, int]]:
    """The constants of `abi` by family and name; where sources differ, the first decides."""
    found: dict[str, dict[str, int]] = {family.name: {} for family in FAMILIES}
    seen: set[str] = set()
    for sources in many:
        here = _constants(sources, abi, scratch)
        for family, values in here.items():
            found[family].update({name: value for name, value in values.items() if name not in seen})
        seen.update(name for values in here.values() for name in values)
    return {family: dict(sorted(values.items())) for family, values in found.items()}


def _constants(sources: Sources, abi: Abi, scratch: Path) -> dict[str, dict[str, int]]:
    private = _private(sources.tree, abi, scratch)
    include = _includes(sources.headers, abi)
    prelude = "".join(f"#include <{header}>\n" for header in include) + "".join(
        f'#include "{path}"\n' for path in private
    )
    names = _names(_compile(sources, abi, prelude, scratch, "-E", "-dD"))
    values = _values(sources, abi, prelude, scratch, sorted(names))
    found: dict[str, dict[str, int]] = {family.name: {} for family in FAMILIES}
    for name in sorted(values):
        found[names[name]][name] = values[name]
    return found


def _includes(headers: Path, abi: Abi) -> list[str]:
    wanted = {header for family in FAMILIES for header in family.headers if header.startswith("linux/")}
    wanted |= {f"asm/{name}.h" for name in ("errno", "fcntl", "mman", "signal", "socket", "ioctls", "resource",
                                            "ptrace", "ptrace-abi", "sockios", "prctl")}  # fmt: skip
    places = [headers / "usr/include", headers / "usr/include" / abi.triplet]
    places += [headers / "usr/lib/linux/uapi" / abi.folder]
    present = [header for header in sorted(wanted - set(FIRST)) if any((place / header).exists() for place in places)]
    return [*FIRST, *present]


def _private(tree: Path, abi: Abi, scratch: Path) -> list[Path]:
    folder = scratch / "kernel"
    folder.mkdir(parents=True, exist_ok=True)
    parts = {name: [source] for name, source in PRIVATE.items()}
    parts["net.h"].append(MIPS_SOCKET_TYPES if abi.folder == "mips" else SOCKET_TYPES)
    written: list[Path] = []
    for name, sources in parts.items():
        text = "".join(
            match.group(0) + "\n"
            for pattern, path in sources
            for match in re.finditer(pattern, (tree / path).read_text())
        )
        written.append(folder / name)
        written[-1].write_text(text)
    written.append(folder / "libc.h")
    written[-1].write_text(LIBC)
    return written


def _compile(sources: Sources, abi: Abi, text: str, scratch: Path, *flags: str) -> str:
    path = scratch / "constants.c"
    path.write_text(text)
    for name, content in STUBS.items():
        stub = scratch / "stub" / name
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(content)
    base = sources.headers / "usr"
    include = [base / "include" / abi.triplet, base / "lib/linux/uapi" / abi.folder, base / "include", scratch / "stub"]
    command = [
        "gcc",
        *flags,
        *abi.flags,
        "-w",
        "-undef",
        "-nostdinc",
        "-std=gnu11",
        "-ftrack-macro-expansion=0",
        "-o",
        "-",
    ]
    command += [f"-D{macro}" for macro in abi.macros] + [f"-I{folder}" for folder in include]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(done.stderr)
    return done.stdout


class CompileError(Exception):
    """What the compiler said."""


def _names(text: str) -> dict[str, str]:
    """The family of each constant that a preprocessed text with its definitions has."""
    found: dict[str, str] = {}
    for header, part in _parts(text):
        for line in part.splitlines():
            if match := DEFINE.match(line):
                _add(found, match.group(1), header, "")
        for match in ENUM.finditer(re.sub(r"^#.*$", "", part, flags=re.M)):
            for entry in match.group(2).split(","):
                if name := re.match(r"\s*(\w+)", entry):
                    _add(found, name.group(1), header, match.group(1))
    return found


def _parts(text: str) -> Iterable[tuple[str, str]]:
    """The text header by header: `asm/fcntl.h` and what it says in one stretch."""
    header, lines = "", list[str]()
    for line in text.splitlines():
        if marker := MARKER.match(line):
            name = "/".join(marker.group(1).split("/")[-2:])
            if name != header:
                yield header, "\n".join(lines)
                header, lines = name, []
        else:
            lines.append(line)
    yield header, "\n".join(lines)


def _add(found: dict[str, str], name: str, header: str, enumeration: str) -> None:
    for family in FAMILIES:
        if name not in found and family.has(name, header, enumeration):
            found[name] = family.name


def _values(sources: Sources, abi: Abi, prelude: str, scratch: Path, names: list[str]) -> dict[str, int]:
    """The values of those names that are constants of whole numbers."""
    while True:
        first = prelude.count("\n") + 1
        body = "".join(f"const long long value_{name} = (long long)({name});\n" for name in names)
        try:
            text = _compile(sources, abi, prelude + body, scratch, "-S", "-O0", "-fno-asynchronous-unwind-tables")
        except CompileError as error:
            lines = {int(line) for line in re.findall(r"constants\.c:(\d+):\d+: error", str(error))}
            wrong = {line - first for line in lines if line >= first}
            if not wrong:
                raise
            names = [name for index, name in enumerate(names) if index not in wrong]
            continue
        return _assembly(text)


def _assembly(text: str) -> dict[str, int]:
    """The values in the data section of an assembly text."""
    found: dict[str, int] = {}
    name, words = "", list[int]()
    for line in text.splitlines():
        if match := re.match(r"value_(\w+):", line):
            name, words = match.group(1), []
        elif name and (match := re.match(r"\s+\.(quad|long|zero|value)\s+(-?\d+)", line)):
            kind, number = match.group(1), int(match.group(2))
            if kind == "quad":
                found[name] = number & (1 << 64) - 1
            elif kind == "zero":
                found[name] = 0
            else:
                words.append(number & 0xFFFFFFFF)
                found[name] = sum(word << 32 * index for index, word in enumerate(words))
    return {name: value - (1 << 64) if value >> 63 else value for name, value in found.items()}

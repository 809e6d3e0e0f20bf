"""What /proc says of one process (proc(5)), read by descriptor of its folder so that a reused pid cannot mislead."""

import os

from sbc_runtime.records import NamedTuple

NAMESPACES = ("user", "mnt", "pid", "ipc", "uts", "cgroup", "net")
"""Names of links in /proc/PID/ns (namespaces(7))."""

CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")

_WANTED = frozenset({b"NoNewPrivs", b"Seccomp", b"Seccomp_filters", *(one.encode() for one in CAPABILITY_SETS)})


class MountLine(NamedTuple):
    """One line of mountinfo: the mount's number and its parent's, what is mounted, where, and with which options.

    `propagation`: `shared` where mounts made on it appear elsewhere, `master` where those made elsewhere appear on it.
    """

    number: int
    parent: int
    device: str
    root: str
    place: str
    options: frozenset[str]
    kind: str
    propagation: frozenset[str] = frozenset()


def folder(pid: int) -> int:
    """Open /proc/PID."""
    return os.open(f"/proc/{pid}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def content(process: int, name: str) -> bytes:
    """Give a file of a process's folder."""
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=process)
    try:
        parts: list[bytes] = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def status(process: int) -> dict[str, int]:
    """Give the fields of status that protections show in; capabilities as bit masks."""
    found: dict[str, int] = {}
    for line in content(process, "status").splitlines():
        name, _, value = line.partition(b":\t")
        if name in _WANTED:
            found[name.decode()] = int(value, 16 if name.startswith(b"Cap") else 10)
    return found


def namespaces(process: int) -> dict[str, str]:
    """Give the namespaces of a process by name; those that cannot be read are left out."""
    found: dict[str, str] = {}
    for name in NAMESPACES:
        try:
            found[name] = os.readlink(f"ns/{name}", dir_fd=process)
        except OSError:
            continue
    return found


def mountinfo(process: int) -> tuple[MountLine, ...]:
    """Give every mount that a process sees below its root, in the kernel's order."""
    return lines(content(process, "mountinfo"))


def lines(text: bytes) -> tuple[MountLine, ...]:
    """Read the lines of a mountinfo (proc_pid_mountinfo(5))."""
    found: list[MountLine] = []
    for line in text.splitlines():
        fields = line.split(b" ")
        end = fields.index(b"-", 6)
        found.append(
            MountLine(
                int(fields[0]),
                int(fields[1]),
                fields[2].decode(),
                plain(fields[3]),
                plain(fields[4]),
                frozenset(fields[5].decode().split(",")),
                fields[end + 1].decode(),
                frozenset(one.partition(b":")[0].decode() for one in fields[6:end]),
            )
        )
    return tuple(found)


def plain(field: bytes) -> str:
    """Undo the octal escapes of blanks, tabs, newlines and backslashes."""
    if b"\\" not in field:
        return os.fsdecode(field)
    parts = field.split(b"\\")
    made = parts[0] + b"".join(bytes((int(part[:3], 8),)) + part[3:] for part in parts[1:])
    return os.fsdecode(made)

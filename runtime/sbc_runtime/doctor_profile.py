"""The smallest profile that asks for everything, made without the compiler: what `sbc doctor` runs.

A private root with the system's folders, a tmpfs, masks of /proc, no network, no capabilities and a filter. The filter
kills every other ABI and allows all calls, so that a refusal is never its own.
"""

from sbc_runtime.arch import Arch
from sbc_runtime.contents import Bundle, Bwrap, Coverage, Filter, Row, Sbpl
from sbc_runtime.instruction import ABS, JEQ, JMP, LD, OFFSET_ARCH, RET, Instruction, K, W, pack
from sbc_runtime.plan import (
    Environment,
    Limit,
    Network,
    Path,
    PathRule,
    Plan,
    ProcRule,
    Setting,
    StartIn,
    Statement,
    Tmp,
)
from sbc_runtime.plan_check import statements
from sbc_runtime.sha256 import sha256_hex

_KILL = 0x80000000
_ALLOW = 0x7FFF0000
"""SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW (`include/uapi/linux/seccomp.h`)."""

_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
_HIDDEN = ("keys", "kmsg", "timer_list")
_READ_ONLY = ("sys", "bus", "irq", "fs")
_NAMESPACES = ("user", "pid", "ipc", "uts", "cgroup", "net")


def bundle(arch: Arch) -> Bundle:
    """Give the bundle for an ABI."""
    program = pack(
        (
            Instruction(LD | W | ABS, 0, 0, OFFSET_ARCH),
            Instruction(JMP | JEQ | K, 1, 0, arch.audit),
            Instruction(RET | K, 0, 0, _KILL),
            Instruction(RET | K, 0, 0, _ALLOW),
        ),
        arch.byte_order,
    )
    one = Filter((arch.name,), arch.byte_order, (arch.audit,), 4, sha256_hex(program), program)
    made = _plan()
    rows = tuple(Row(one, None, ("enforced",)) for one in dict.fromkeys(statements(made)))
    return Bundle(
        profile="doctor",
        compiler="",
        sources=(),
        params=(),
        filters=(one,),
        sbpl=Sbpl(None, "not asked for"),
        bwrap=Bwrap(_arguments(), None),
        plan=made,
        losses=(),
        coverage=Coverage(("runtime",), rows),
        docs="",
        notes=(),
    )


def _said(block: str, text: str) -> Statement:
    return Statement(block, None, None, text, "")


def _plan() -> Plan:
    def read(folder: str) -> PathRule:
        statement = _said("files", f"read {folder} optional")
        return PathRule("read", Path(None, folder), None, True, False, None, None, statement)

    return Plan(
        roots=(Setting("private", None, _said("files", "root private")),),
        rules=tuple(read(folder) for folder in _FOLDERS),
        tmps=(Tmp(Path(None, "/tmp"), 1 << 20, None, False, None, _said("files", "tmp /tmp")),),  # noqa: S108
        devices=(Setting("minimal", None, _said("files", "devices minimal")),),
        start_in=(StartIn(Path(None, "/"), None, _said("files", "start-in /")),),
        proc=(
            *(ProcRule("hide", one, None, _said("proc", f"hide {one}")) for one in _HIDDEN),
            *(ProcRule("read-only", one, None, _said("proc", f"read-only {one}")) for one in _READ_ONLY),
        ),
        network=Network("none", False, (), _said("network", "network none")),
        environment=Environment((), ()),
        identity=(),
        limits=(Limit("wall", 20_000, None, _said("limits", "wall 20s")),),
    )


def _arguments() -> tuple[str, ...]:
    """Give the compiled arguments of the same for bubblewrap."""
    words = [f"--unshare-{name}" for name in _NAMESPACES]
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--perms", "0755", "--size", "65536", "--tmpfs", "/dev"]
    for name in ("null", "zero", "full", "random", "urandom"):
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    words += ["--perms", "1777", "--size", "67108864", "--tmpfs", "/dev/shm", "--proc", "/proc"]  # noqa: S108
    for folder in _FOLDERS:
        words += ["--ro-bind-try", folder, folder]
    words += ["--perms", "1777", "--size", str(1 << 20), "--tmpfs", "/tmp"]  # noqa: S108
    for entry in _HIDDEN:
        words += ["--sbc-hide-try", f"/proc/{entry}", f"/proc/{entry}"]
    for entry in _READ_ONLY:
        words += ["--ro-bind-try", f"/proc/{entry}", f"/proc/{entry}"]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--seccomp", "${:seccomp}"]
    return tuple(words)

"""The stock groups: what stands in them is there, once, and of one kind."""

import re
from pathlib import Path

import pytest

from sbc.kernel.abi import ABIS
from sbc.kernel.constants import constants
from sbc.kernel.numbers import all_calls
from tests.shared_data import ROOT

LIBRARY = ROOT / "profiles" / "lib"
# The names that administrators know, and what must be in them.
KNOWN = {
    "aio": "io_uring_setup", "basic-io": "pwritev2", "chown": "fchownat", "clock": "clock_settime64",
    "cpu-emulation": "vm86", "debug": "ptrace", "default": "futex_waitv", "file-system": "fchmodat2",
    "io-event": "epoll_pwait2", "ipc": "shmat", "keyring": "keyctl", "memlock": "mlock2", "module": "finit_module",
    "mount": "open_tree_attr", "network-io": "socketcall", "obsolete": "_sysctl", "pkey": "pkey_mprotect",
    "privileged": "bpf", "process": "clone3", "raw-io": "iopl", "reboot": "kexec_file_load",
    "resources": "sched_setattr", "sandbox": "landlock_restrict_self", "setuid": "setresgid32", "signal": "signalfd4",
    "swap": "swapon", "sync": "sync_file_range2", "system-service": "ioctl", "timer": "timerfd_settime64",
}  # fmt: skip


def _groups(path: Path) -> dict[str, list[str]]:
    text = re.sub(r"#.*", "", path.read_text())
    assert text.lstrip().startswith("sbx 1\n")
    found = re.findall(r"^group @([a-z-]+) \{([^}]*)\}", text, re.M)
    assert re.sub(r"group @[a-z-]+ \{[^}]*\}|sbx 1|\s", "", text) == ""
    return {name: body.split() for name, body in found}


def _flat(groups: dict[str, list[str]], name: str) -> set[str]:
    own = {member for member in groups[name] if not member.startswith("@")}
    return own.union(*(_flat(groups, member[1:]) for member in groups[name] if member.startswith("@")))


@pytest.mark.parametrize("name", ["groups.sbx", "proc.sbx"])
def test_every_group_has_a_reason_and_no_member_twice(name: str) -> None:
    path = LIBRARY / name
    for group, members in _groups(path).items():
        assert members, group
        assert len(set(members)) == len(members), group
        assert re.search(rf"^## .*\ngroup @{group} ", path.read_text(), re.M), group


def test_every_member_is_a_call_of_some_abi() -> None:
    groups = _groups(LIBRARY / "groups.sbx")
    del groups["new-namespaces"]
    for group in groups:
        assert _flat(groups, group) <= all_calls(), group


@pytest.mark.parametrize(("group", "call"), KNOWN.items())
def test_the_groups_that_people_know(group: str, call: str) -> None:
    assert call in _flat(_groups(LIBRARY / "groups.sbx"), group)


def test_the_privileged_are_not_among_what_a_service_needs() -> None:
    groups = _groups(LIBRARY / "groups.sbx")
    for group in ("clock", "module", "mount", "raw-io", "reboot", "swap", "debug", "obsolete", "cpu-emulation"):
        shared = _flat(groups, group) & _flat(groups, "system-service")
        assert shared <= {"kcmp", "process_vm_readv", "process_vm_writev"}, group


def test_the_new_namespaces() -> None:
    names = _groups(LIBRARY / "groups.sbx")["new-namespaces"]
    assert "CLONE_NEWTIME" not in names
    for abi in ABIS:
        assert sum(constants(abi)[name] for name in names) == 0x7E020000


def test_the_entries_of_proc() -> None:
    groups = _groups(LIBRARY / "proc.sbx")
    assert groups["container-read-only"] == [f"/proc/{name}" for name in ["bus", "fs", "irq", "sys", "sysrq-trigger"]]
    hidden = "acpi asound kcore keys kmsg latency_stats sched_debug scsi timer_list timer_stats"
    assert groups["container-hidden"] == [f"/proc/{name}" for name in hidden.split()]

"""Signatures of x86_64 against the running kernel, which lists the type and name of each argument in tracefs."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sbc.kernel.numbers import numbers
from sbc.kernel.releases import known_releases
from sbc.kernel.signature import signature

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
# What the events are called after the kernel's functions where these are not called like the call.
FUNCTIONS = {
    "stat": "newstat", "lstat": "newlstat", "fstat": "newfstat", "uname": "newuname", "umount2": "umount",
    "sendfile": "sendfile64",
}  # fmt: skip
# Names that changed after 6.12, reviewed: the call, the argument's place, its name here and in the newer kernel.
RENAMED: dict[tuple[str, int], tuple[str, str]] = {}
WIDTHS = {
    "umode_t": 16, "int": 32, "s32": 32, "u32": 32, "uint": 32, "unsigned": 32, "unsigned int": 32, "pid_t": 32,
    "uid_t": 32, "gid_t": 32, "qid_t": 32, "clockid_t": 32, "timer_t": 32, "mqd_t": 32, "key_t": 32, "__s32": 32,
    "__u32": 32, "key_serial_t": 32, "rwf_t": 32, "enum landlock_rule_type": 32, "long": 64, "unsigned long": 64,
    "size_t": 64, "off_t": 64, "loff_t": 64, "u64": 64, "__u64": 64, "uintptr_t": 64, "aio_context_t": 64,
    "cap_user_header_t": 64, "cap_user_data_t": 64,
}  # fmt: skip
NEWNS, PRIVATE = 0x20000, 0x40000 | 0x4000
# Mounts tracefs in a mount namespace of its own, so that nothing of this machine changes, and prints all formats.
READER = f"""
import ctypes, glob, os, sys
libc = ctypes.CDLL(None, use_errno=True)
place = sys.argv[1]
if libc.unshare({NEWNS}) or libc.mount(b"none", b"/", None, {PRIVATE}, None):
    sys.exit(os.strerror(ctypes.get_errno()))
if libc.mount(b"none", place.encode(), b"tracefs", 0, None):
    sys.exit(os.strerror(ctypes.get_errno()))
for path in sorted(glob.glob(place + "/events/syscalls/sys_enter_*/format")):
    print(open(path).read())
"""


def _formats(folder: Path) -> str:
    for place in PLACES:
        try:
            paths = sorted((place / "events" / "syscalls").glob("sys_enter_*/format"))
            if paths:
                return "\n".join(path.read_text() for path in paths)
        except PermissionError:
            pass
    done = subprocess.run([sys.executable, "-c", READER, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        pytest.skip(f"tracefs is not mounted and cannot be ({done.stderr.strip() or 'no events/syscalls'})")
    return done.stdout


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, str]]]:
    """The arguments of each event: type and name."""
    if platform.machine() != "x86_64":
        pytest.skip("the running kernel is not x86_64")
    found: dict[str, list[tuple[str, str]]] = {}
    for text in _formats(tmp_path_factory.mktemp("tracefs")).split("name: sys_enter_")[1:]:
        fields = re.findall(r"^\tfield:(.*?)\s*(\w+);", text, re.M)
        found[text.split("\n")[0]] = [(kind, name) for kind, name in fields if not name.startswith(("common_", "__"))]
    assert len(found) > 250
    return found


def test_names_stand_in_the_same_places(events: dict[str, list[tuple[str, str]]]) -> None:
    checked = 0
    for call in numbers("x86_64"):
        found, event = signature("x86_64", call), events.get(FUNCTIONS.get(call, call))
        if found is None or event is None:
            continue
        ours, theirs = [argument.name for argument in found.args], [name for _, name in event]
        for (renamed, index), (old, new) in RENAMED.items():
            if renamed == call and theirs[index] == new:
                theirs[index] = old
        assert ours == theirs, call
        checked += 1
    assert checked > 250


def test_the_types_have_the_widths_that_we_say(events: dict[str, list[tuple[str, str]]]) -> None:
    for call in numbers("x86_64"):
        found, event = signature("x86_64", call), events.get(FUNCTIONS.get(call, call))
        if found is None or event is None:
            continue
        for argument, (written, _) in zip(found.args, event, strict=True):
            kind = re.sub(r"^const (?!.*\*)", "", written)
            assert argument.width == (64 if "*" in kind else WIDTHS[kind]), (call, argument.name, written)
            assert argument.pointer == ("*" in kind or kind.startswith("cap_user_")), (call, argument.name, written)


def test_every_event_is_that_of_a_known_call(events: dict[str, list[tuple[str, str]]]) -> None:
    newest = tuple(map(int, known_releases()[-1].split(".")))
    if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) > newest:
        pytest.skip("the running kernel is newer than the tables")
    assert set(events) <= {FUNCTIONS.get(call, call) for call in numbers("x86_64")}

"""Ways round what is sampled: each is a hostile command that holds more than its limit where nobody looks at first."""

import subprocess
import sys
from pathlib import Path

import pytest

from sbc_runtime.cpu_total import Times, _lost  # pyright: ignore[reportPrivateUsage]
from sbc_runtime.outcome import Outcome
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out
from tests.shared_data import ROOT

FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 64MiB; devices minimal; start-in /tmp }}"


def run(caller: Caller, backend: str, limits: str, script: str, *arguments: str, more: str = "") -> Outcome:
    made = bundle(f"{FILES}; network none; {PATHS}; limits {{ wall 10min; {limits} }}; {more}")
    return caller.run(made, ["/usr/bin/python3", "-c", script, *arguments], backend=backend)


def over(outcome: Outcome) -> bool:
    assert outcome.kind == "memory-limit", (outcome.kind, outcome.usage, outcome.stdout.kept, outcome.stderr.kept)
    assert outcome.usage.memory is not None
    return outcome.usage.memory < 2 * next(one.value for one in outcome.limits if one.key == "memory")


THREAD = """
import ctypes, platform, threading, time
kept = []
def fill():
    time.sleep(0.2)
    for _ in range(120):
        kept.append(bytearray(b"x") * (1 << 20)); time.sleep(0.001)
    time.sleep(1000)
threading.Thread(target=fill).start()
# The first thread alone ends.
ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)
"""


def test_a_process_whose_first_thread_has_ended(caller: Caller, backend: str) -> None:
    assert over(run(caller, backend, "memory 96MiB", THREAD))


RELAY = """
import ctypes, platform, threading, time
kept = []
libc = ctypes.CDLL(None)
threading.stack_size(1 << 16)
def relay():
    # Threads follow one another; none lives for long.
    if len(kept) < 120:
        kept.append(bytearray(b"x") * (1 << 20))
    time.sleep(0.002)
    threading.Thread(target=relay).start()
threading.Thread(target=relay).start()
libc.syscall(60 if platform.machine() == "x86_64" else 93, 0)
"""


def test_threads_that_follow_one_another(caller: Caller, backend: str) -> None:
    assert over(run(caller, backend, "memory 96MiB", RELAY))


SEGMENTS = """
import ctypes, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
libc.shmdt.argtypes = (ctypes.c_void_p,)
libc.memset.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
for _ in range(60):
    assert libc.shmget(0, ctypes.c_size_t(4096), 0o600) >= 0
for _ in range(120):
    one = libc.shmget(0, ctypes.c_size_t(1 << 20), 0o600)
    assert one >= 0
    at = libc.shmat(one, None, 0)
    libc.memset(at, 1, 1 << 20)
    libc.shmdt(at)
time.sleep(1000)
"""
SEMAPHORES = """
import ctypes, time
libc = ctypes.CDLL(None)
for _ in range(60):
    assert libc.semget(0, 32000, 0o600) >= 0
time.sleep(1000)
"""
MESSAGES = """
import ctypes, time
libc = ctypes.CDLL(None)
message = ctypes.create_string_buffer(b"\\1" * 8200)
for _ in range(6500):
    one = libc.msgget(0, 0o600)
    assert one >= 0
    for _ in range(2):
        assert libc.msgsnd(one, message, ctypes.c_size_t(8192), 0o4000) == 0
time.sleep(1000)
"""


@pytest.mark.parametrize("script", [SEGMENTS, SEMAPHORES, MESSAGES], ids=["segments", "semaphores", "messages"])
def test_system_v_objects_count(caller: Caller, backend: str, script: str) -> None:
    assert over(run(caller, backend, "memory 72MiB", script))


INODES = """
import os, sys
made = 0
try:
    for made in range(100000):
        if sys.argv[2] == "files":
            os.close(os.open(f"{sys.argv[1]}/{made}", os.O_CREAT | os.O_WRONLY))
        elif sys.argv[2] == "links":
            os.symlink("x" * 120, f"{sys.argv[1]}/{made}")
        else:
            os.mkdir(f"{sys.argv[1]}/{made}")
except OSError: pass
print(made)
"""


@pytest.mark.parametrize("kind", ["files", "links", "folders"])
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_inodes_have_an_end(caller: Caller, backend: str, place: str, kind: str) -> None:
    outcome = run(caller, backend, "memory 64MiB", INODES, place, kind)
    # One for every 2 KiB of the file system's size, or the sampler comes first.
    assert outcome.kind == "memory-limit" or int(out(outcome)) <= (64 << 20) // 2048


WRITABLE = """
import os
found = set()
for top, folders, _ in os.walk("/"):
    folders[:] = [one for one in folders if top != "/proc" or one in {"self", "sys"}]
    if top.startswith("/usr/"): folders[:] = []
    def file(path): os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    for make in (file, os.mkdir, lambda path: os.symlink("x", path)):
        try: make(f"{top}/made-{id(make)}")
        except OSError: continue
        found.add(top)
    for name in os.listdir(top) if os.access(top, os.R_OK) else []:
        if name.startswith("made-"): folders[:] = [one for one in folders if one != name]
print(*sorted(found))
"""


@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize("devices", ["minimal", "standard"])
def test_only_budgeted_places_are_writable(caller: Caller, backend: str, user: int, devices: str) -> None:
    text = f"{FILES}; network none; {PATHS}; identity {{ user {user} }}".replace("minimal", devices)
    outcome = caller.run(bundle(text), ["/usr/bin/python3", "-c", WRITABLE], backend=backend, allow_wider=True)
    assert out(outcome).split() == ["/dev/shm", "/tmp"]


TABLES = """
import mmap, time
kept = []
for _ in range(64):
    # Reading maps the kernel's page of zeros: nothing becomes resident but page tables.
    one = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ)
    kept.append(one)
    for at in range(0, 1 << 30, 1 << 21): one[at]
time.sleep(1000)
"""


def test_page_tables_count(caller: Caller, backend: str) -> None:
    assert over(run(caller, backend, "memory 96MiB", TABLES))


BOTH = """
import mmap, os, time
one = os.memfd_create("x"); os.ftruncate(one, 55 << 20)
mapped = mmap.mmap(one, 55 << 20)
for at in range(0, 55 << 20, 4096): mapped[at] = 1
with open("/tmp/x", "wb", 0) as file:
    for _ in range(55): file.write(b"x" * (1 << 20))
time.sleep(1000)
"""
MAPPED = """
import mmap, os, time
with open("/tmp/x", "wb") as file: file.truncate(55 << 20)
file = open("/tmp/x", "r+b")
mapped = mmap.mmap(file.fileno(), 55 << 20)
for at in range(0, 55 << 20, 4096): mapped[at] = 1
for _ in range(2):
    if os.fork() == 0: sum(mapped[at] for at in range(0, 55 << 20, 4096)); time.sleep(0.3); os._exit(0)
time.sleep(0.5)
"""


def test_mapped_memory_and_files_add_up(caller: Caller, backend: str) -> None:
    assert over(run(caller, backend, "memory 96MiB", BOTH))


def test_a_mapped_file_in_memory_counts_once(caller: Caller, backend: str) -> None:
    outcome = run(caller, backend, "memory 96MiB", MAPPED)
    assert outcome.ok, (outcome.kind, outcome.usage)


SPREAD = """
import os, time
for _ in range(20):
    if os.fork() == 0:
        kept = [bytearray(b"x") * (1 << 20) for _ in range(12)]
        time.sleep(1000)
os.wait()
"""


def test_a_hog_of_twenty_processes(caller: Caller, backend: str) -> None:
    """All together hold more than the limit, and never twice as much, however late they are looked at."""
    assert over(run(caller, backend, "memory 192MiB", SPREAD))


VFORK = """
import ctypes, os, time
kept = bytearray(b"x") * (58 << 20)
libc = ctypes.CDLL(None, use_errno=True)
stack = ctypes.create_string_buffer(1 << 16)
top = ctypes.c_void_p((ctypes.addressof(stack) + (1 << 16)) & ~15)
def child(microseconds):
    # CLONE_VM | CLONE_VFORK | SIGCHLD, as vfork(2) does: it sleeps in the memory of its parent, which waits.
    pid = libc.clone(ctypes.cast(libc.usleep, ctypes.c_void_p), top, 0x4111, ctypes.c_void_p(microseconds))
    assert pid > 0, ctypes.get_errno()
    os.waitpid(pid, 0)
for _ in range(200):
    child(4000)
child(400000)
for _ in range(20):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""


def test_a_child_of_vfork_is_not_a_second_hog(caller: Caller, backend: str) -> None:
    outcome = run(caller, backend, "memory 112MiB", VFORK)
    assert outcome.ok, (outcome.kind, outcome.usage, outcome.stderr.kept)


ALIKE = """
import os, time
kept = bytearray(b"x") * (58 << 20)
if os.fork() == 0:
    # As large as its parent, page by page, and none shared.
    kept[::4096] = b"y" * len(kept[::4096])
time.sleep(1000)
"""


def test_a_process_as_large_as_its_parent_counts(caller: Caller, backend: str) -> None:
    assert over(run(caller, backend, "memory 112MiB", ALIKE))


IGNORED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
"""
NOCLDWAIT = """
import ctypes, os, time
action = (ctypes.c_uint64 * 20)()  # the handler, 128 bytes of mask, the flags
action[17] = 2
assert ctypes.CDLL(None).sigaction(17, action, None) == 0
"""
CHILDREN = """
import os, sys, time
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        while time.process_time() < 0.25: pass
        os._exit(0)
    try: os.wait()
    except ChildProcessError: pass
"""


@pytest.mark.parametrize("how", [IGNORED, NOCLDWAIT], ids=["SIG_IGN", "SA_NOCLDWAIT"])
def test_cpu_time_of_children_that_nobody_waits_for(caller: Caller, backend: str, how: str) -> None:
    outcome = run(caller, backend, "cpu 1s", how + CHILDREN, "60")
    assert (outcome.kind, outcome.code) == ("cpu-limit", 137), (outcome.usage, outcome.stderr.kept)
    (cpu,) = (one for one in outcome.limits if one.key == "cpu")
    assert "only a cgroup is exact" in cpu.note


def test_cpu_time_of_children_that_are_waited_for_counts_once(caller: Caller, backend: str) -> None:
    outcome = run(caller, backend, "cpu 3500ms", CHILDREN, "8")
    assert outcome.ok, (outcome.kind, outcome.usage)
    assert outcome.usage.cpu is not None
    assert outcome.usage.cpu < 3500


ORPHANS = """
import os, time
here, there = os.pipe()
for _ in range(75):
    if os.fork() == 0:
        if os.fork() == 0:
            while time.process_time() < 0.02: pass
            os.write(there, b"x")
        os._exit(0)
    os.wait()
    os.read(here, 1)
"""


def test_cpu_time_of_orphans(caller: Caller, backend: str) -> None:
    """Init waits for them, each too short for a sample: what it got is seen, also where its folder is hidden."""
    outcome = run(caller, backend, "cpu 1s", ORPHANS)
    assert (outcome.kind, outcome.code) == ("cpu-limit", 137), (outcome.usage, outcome.stderr.kept)


INIT = Times(0, "0", 0, 0)


def test_what_vanished_is_kept_once() -> None:
    shell, job = Times(5, "1", 1, 10), Times(9, "2", 100, 7)
    before = {"1": INIT, "2": shell, "3": job}
    # Its parent has waited for it; has waited for another; nobody has.
    assert _lost(before, {"1": INIT, "2": shell._replace(waited=120)}) == 0
    assert _lost(before, {"1": INIT, "2": shell._replace(waited=30)}) == 87
    assert _lost(before, {"1": INIT, "2": shell}) == 107
    # Its number is another's.
    assert _lost(before, {"1": INIT, "2": shell, "3": Times(77, "2", 1, 0)}) == 107
    # Both are gone: init has waited for both, for the orphan, for nothing.
    assert _lost(before, {"1": INIT._replace(waited=118)}) == 0
    assert _lost(before, {"1": INIT._replace(waited=11)}) == 107
    assert _lost(before, {"1": INIT}) == 118
    # What one parent has got is not another's child's.
    other = Times(6, "1", 0, 0)
    before["4"] = other
    assert _lost(before, {"1": INIT, "2": shell, "4": other._replace(waited=500)}) == 107


REUSED = """
import ctypes, os, struct, sys, time
sys.path.insert(0, sys.argv[1])
from sbc_runtime.prepared import LimitValue
from sbc_runtime.sampler import Sampler, Scope
libc = ctypes.CDLL(None, use_errno=True)
def child(pid, size):
    numbers = ctypes.c_int32(pid)
    made = struct.pack("=10Q", 0, 0, 0, 0, 17, 0, 0, 0, ctypes.addressof(numbers), 1)
    found = libc.syscall(435, made, len(made)) if pid else os.fork()
    assert found >= 0, os.strerror(ctypes.get_errno())
    if found == 0:
        kept = bytearray(b"x") * size
        os.write(there, b"r")
        time.sleep(1000)
    os.read(here, 1)
    return found
here, there = os.pipe()
proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
sampler = Sampler(Scope(proc, os.getpid(), (), ()), LimitValue(memory=96 << 20), memory=True, processes=False)
def look(times):
    for number in range(times):
        # Never listed again: only the kept descriptor tells.
        sampler._next_list = 1e9
        sampler.look(float(number))
    return sampler.kind
first = child(0, 1 << 20)
sampler._list()
assert look(8) is None
os.kill(first, 9)
os.waitpid(first, 0)
assert child(first, 120 << 20) == first
print(look(8))
os.kill(first, 9)
"""


def test_a_number_that_another_process_has_got(tmp_path: Path) -> None:
    script = tmp_path / "reused.py"
    script.write_text(REUSED)
    command = ["unshare", "-Urpf", "--mount-proc", "--kill-child", sys.executable, str(script), str(ROOT / "runtime")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "clone3" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"cannot choose a pid here: {done.stderr}")
    assert done.stdout == "memory-limit\n", done.stderr


def test_what_the_kernel_holds_for_each_process(caller: Caller, backend: str) -> None:
    script = "import resource as r; print(*(r.getrlimit(one) for one in (r.RLIMIT_CPU, r.RLIMIT_DATA, r.RLIMIT_NPROC)))"
    outcome = run(caller, backend, "cpu 1500ms; memory 100MiB; processes 30", script)
    data = (125 << 20) + (32 << 20)
    # Whole seconds, rounded up; the command's processes and init.
    assert out(outcome) == f"(2, 3) ({data}, {data}) (31, 31)\n"


def test_the_report_says_what_sampling_does_not_see(caller: Caller) -> None:
    (memory,) = (one for one in run(caller, "namespace", "memory 1GiB", "").limits if one.key == "memory")
    assert memory.how == ("sampled", "rlimit")
    words = ("memfd_create", "MADV_DONTNEED", "pipes", "sockets", "mounts", "huge pages", "swapped", "cgroup")
    for word in (*words, "pages of files"):
        assert word in memory.note

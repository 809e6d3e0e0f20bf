"""Runs in a guest: what the kernel makes of the runtime's cgroups, as root and as uid 1000 in a delegated folder."""

import os
import resource
import shutil
import signal
import sys
import time
import traceback

sys.path.insert(0, "/job")
import sbc_runtime
from sbc_runtime import cgroup, cgroup_group, landlock
from sbc_runtime.backends.interface import ChildDescriptors, Watch
from sbc_runtime.backends.process import ProcessBackend
from sbc_runtime.cgroup_base import find_base, folder_of
from sbc_runtime.cgroup_files import read, words
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import Ids, LimitValue, Mount, Prepared

TOP = "/sys/fs/cgroup"
MEMORY = LimitValue(memory=48 << 20)
BOTH = ("memory", "pids")
BACKENDS = ("namespace", "process", *(("bwrap",) if shutil.which("bwrap") else ()))
checks = []


def check(function):
    checks.append(function)
    return function


def why(function, *arguments):
    """Give the reason of a refusal."""
    try:
        function(*arguments)
    except SetupFailed as failed:
        return failed.failure.why
    raise AssertionError("was not refused")


def child(function):
    """Start a process that waits to be let go; give its pid and the end to write to."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            # The lock of a folder is its runner's alone: every backend's child closes what it inherits first.
            os.closerange(3, here)
            os.closerange(here + 1, 1024)
            os.read(here, 1)
            function()
        finally:
            os._exit(0)
    os.close(here)
    return pid, there


def inside(group, function):
    pid, go = child(function)
    group.add(pid)
    os.close(go)
    return pid


def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def forever():
    while True:
        signal.pause()


def hog():
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def leaves_no_folder(base):
    assert not [name for name in os.listdir(base) if name.startswith("sbc-run-")], os.listdir(base)


@check
def without_controllers():
    os.mkdir(TOP + "/plain")
    assert "/plain/cgroup.controllers does not list `memory`, `pids`" in why(find_base, TOP + "/plain", {}, BOTH)
    assert why(find_base, "/tmp", {}, BOTH) == "/tmp is no folder of cgroup v2"
    assert "absolute" in why(find_base, "x", {}, BOTH)


@check
def found_and_enabled():
    assert folder_of() == TOP, folder_of()
    assert find_base(None, {}, BOTH) == TOP
    assert {"memory", "pids"} <= words(TOP + "/cgroup.subtree_control")
    assert find_base(None, {"SBC_CGROUP_BASE": TOP + "/plain"}, BOTH) == TOP + "/plain"


@check
def readiness():
    ready = cgroup.probe(TOP + "/plain")
    assert ready.ready, ready
    assert cgroup.probe(None).ready
    leaves_no_folder(TOP + "/plain")
    leaves_no_folder(TOP)


@check
def memory():
    group = cgroup.create("one", TOP + "/plain", MEMORY)
    assert group.enforces == {"memory"}
    bystander = inside(group, forever)
    assert not group.oom_killed()
    assert ended(inside(group, hog)) == -signal.SIGKILL
    assert ended(bystander) == -signal.SIGKILL, "the whole group goes"
    assert group.oom_killed()
    group.remove()
    assert group.removed


@check
def killed_from_outside_is_no_memory_limit():
    group = cgroup.create("one", TOP + "/plain", MEMORY)
    pid = inside(group, forever)
    os.kill(pid, signal.SIGKILL)
    ended(pid)
    assert not group.oom_killed()
    group.remove()


@check
def processes():
    group = cgroup.create("one", TOP + "/plain", LimitValue(processes=5), own=0)

    def bomb():
        made = 0
        try:
            while made < 50:
                if os.fork() == 0:
                    forever()
                made += 1
        except OSError:
            os.kill(os.getpid(), signal.SIGUSR1 if made == 4 else signal.SIGUSR2)

    assert ended(inside(group, bomb)) == -signal.SIGUSR1
    assert group.processes_refused()
    assert group.usage().tasks in (4, 5), group.usage()
    group.remove()
    assert group.removed


@check
def usage():
    group = cgroup.create("one", TOP + "/plain", LimitValue(memory=256 << 20, processes=9))

    def work():
        kept = bytearray(32 << 20)
        os.kill(os.getpid(), signal.SIGSTOP)
        del kept

    os.waitpid(inside(group, work), os.WUNTRACED)
    seen = group.usage()
    assert 32 << 20 <= seen.memory < 64 << 20, seen
    assert seen.tasks == 1, seen
    assert seen.cpu > 0, seen
    group.remove()
    gone = group.usage()
    assert gone == (None, None, None), gone


def spread():
    """Fork, leave the session, and lose the parent, some times over."""
    for _ in range(5):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
    forever()


def filled():
    group = cgroup.create("one", TOP + "/plain", LimitValue(processes=200))
    inside(group, spread)
    while int(read(group.path + "/pids.current")) < 20:
        time.sleep(0.01)
    return group


@check
def kill():
    group = filled()
    group.kill()
    while not group.empty():
        time.sleep(0.01)
    group.remove()
    group.remove()
    assert group.removed


@check
def kill_one_by_one():
    real = cgroup_group.put

    def absent(path, text):
        if path.endswith("cgroup.kill"):
            raise FileNotFoundError(2, "absent", path)
        real(path, text)

    cgroup_group.put = absent
    group = filled()
    group.remove()
    assert group.removed


@check
def stays_without_folders():
    group = cgroup.create("one", TOP + "/plain", LimitValue())
    try:
        os.mkdir(group.path + "/below")
        raise AssertionError("made")
    except OSError:
        pass
    with open(group.path + "/cgroup.max.descendants", "w") as file:
        file.write("max")
    os.makedirs(group.path + "/a/b/c")
    group.remove()
    assert group.removed


def runner(base):
    """Start a runner with a process in its cgroup; give the runner's pid, its folder and the process."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        group = cgroup.create("one", base, LimitValue())
        inner = inside(group, forever)
        os.write(there, f"{group.path} {inner}".encode())
        forever()
    path, inner = os.read(here, 4096).decode().split()
    return pid, path, int(inner)


@check
def reclaim():
    base = TOP + "/plain"
    os.mkdir(base + "/sbc-run-of-somebody")
    dead, dead_path, dead_inner = runner(base)
    alive, alive_path, _ = runner(base)
    assert cgroup.reclaim(base) == ()
    os.kill(dead, signal.SIGKILL)
    ended(dead)
    process = os.pidfd_open(dead_inner)
    group = cgroup.create("one", base, LimitValue())
    assert not os.path.exists(dead_path)
    assert os.path.exists(alive_path)
    assert os.path.exists(base + "/sbc-run-of-somebody")
    try:
        signal.pidfd_send_signal(process, 0)
        assert " Z " in read(f"/proc/{dead_inner}/stat"), "is still there"
    except ProcessLookupError:
        pass
    os.kill(alive, signal.SIGKILL)
    ended(alive)
    group.remove()
    assert cgroup.reclaim(base) == (alive_path,)
    os.rmdir(base + "/sbc-run-of-somebody")
    leaves_no_folder(base)


@check
def many_at_once():
    base = TOP + "/plain"
    started = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                for _ in range(6):
                    group = cgroup.create("one", base, LimitValue(processes=9))
                    one = inside(group, forever)
                    assert not group.empty()
                    group.remove()
                    assert group.removed
                    assert ended(one) == -signal.SIGKILL
                status = 0
            except BaseException:
                traceback.print_exc(file=sys.stdout)
            finally:
                sys.stdout.flush()
                os._exit(status)
        started.append(pid)
    assert [ended(pid) for pid in started] == [0] * 8
    leaves_no_folder(base)


@check
def base_with_processes():
    os.mkdir(TOP + "/busy")
    pid, go = child(forever)
    with open(TOP + "/busy/cgroup.procs", "w") as file:
        file.write(str(pid))
    said = why(find_base, TOP + "/busy", {}, BOTH)
    assert said.startswith(TOP + "/busy/cgroup.subtree_control does not take `+memory +pids`"), said
    assert "it has processes of its own" in said, said
    os.kill(pid, signal.SIGKILL)
    ended(pid)
    os.close(go)


def bound(source, read_only=False):
    found = os.stat(source)
    return Mount("bind", source, source, found.st_dev, found.st_ino, True, read_only, False, 0, 0, "p.sbx:1")


@check
def inside_a_writable_mount():
    for source in ("/", "/sys", TOP, TOP + "/plain", TOP + "/busy"):
        assert source in why(cgroup.check_outside, TOP + "/plain", [bound(source)])
        cgroup.check_outside(TOP + "/plain", [bound(source, read_only=True)])
    cgroup.check_outside(TOP + "/plain", [bound("/tmp"), bound("/job")])
    assert "can write to /sys" in why(cgroup.create, "one", TOP + "/plain", LimitValue(), 1, [bound("/sys")])
    leaves_no_folder(TOP + "/plain")


def become_user():
    os.setgroups([])
    os.setresgid(1000, 1000, 1000)
    os.setresuid(1000, 1000, 1000)


@check
def not_delegated():
    become_user()
    said = why(find_base, TOP + "/plain", {}, BOTH)
    assert said == TOP + "/plain may not be written by uid 1000", said
    assert "is not delegated to uid 1000" in why(find_base, None, {}, BOTH)
    assert not cgroup.probe(TOP + "/plain").ready


def delegate():
    if not os.path.exists(TOP + "/user"):
        for folder in (TOP + "/user", TOP + "/user/runner"):
            os.mkdir(folder)
            os.chown(folder, 1000, 1000)
            for name in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
                os.chown(f"{folder}/{name}", 1000, 1000)


@check
def delegated_but_called_from_outside():
    delegate()
    become_user()
    ready = cgroup.probe(TOP + "/user")
    assert not ready.ready
    assert ready.why.startswith(TOP + "/cgroup.procs may not be written by uid 1000"), ready
    leaves_no_folder(TOP + "/user")


@check
def half_delegated():
    """The folder alone was given away: its files were not."""
    os.mkdir(TOP + "/half")
    os.chown(TOP + "/half", 1000, 1000)
    become_user()
    ready = cgroup.probe(TOP + "/half")
    assert ready.why.startswith(TOP + "/half/cgroup.subtree_control may not be written by uid 1000"), ready


@check
def delegated():
    delegate()
    with open(TOP + "/user/runner/cgroup.procs", "w") as file:
        file.write(str(os.getpid()))
    become_user()
    assert folder_of() == TOP + "/user/runner"
    assert find_base(None, {}, BOTH) == TOP + "/user", "its own has processes, so the one above"
    ready = cgroup.probe(None)
    assert ready.ready, ready
    group = cgroup.create("one", None, LimitValue(memory=48 << 20, processes=20))
    assert group.path.startswith(TOP + "/user/sbc-run-")
    assert group.enforces == {"memory", "processes"}
    assert ended(inside(group, hog)) == -signal.SIGKILL
    assert group.oom_killed()
    group.remove()
    leaves_no_folder(TOP + "/user")


@check
def another_users_folder_is_left_alone():
    delegate()
    os.mkdir(TOP + "/user/sbc-run-0123456789abcdef")
    os.chown(TOP + "/user/sbc-run-0123456789abcdef", 1000, 1000)
    assert cgroup.reclaim(TOP + "/user") == ()
    become_user()
    assert cgroup.reclaim(TOP + "/user") == (TOP + "/user/sbc-run-0123456789abcdef",)


def prepared(script, limits, uid):
    ids = Ids(uid, uid, uid, uid, os.getuid() == 0)
    mounts = tuple(bound(path, read_only=True) for path in ("/usr", "/proc") if not os.path.islink(path))
    return Prepared(
        "one", "p", ("/usr/bin/python3", "-I", "-S", "-c", script), (("PATH", "/usr/bin"),), "/", False, mounts, (), (),
        "minimal", "none", ids, "sandbox", limits, None, False, {}, (), (), (), (),
    )  # fmt: skip


def process_run(script, limits, uid, kill=False):
    """Run a script under the process backend in a cgroup; give its status, what it printed, and the cgroup."""
    plan = prepared(script, limits, uid)
    group = cgroup.create("one", TOP + "/plain", limits, own=0, mounts=plan.mounts)
    lifeline, held = os.pipe()
    out, out_inner = os.pipe()
    null = os.open("/dev/null", os.O_RDWR)
    sandbox = ProcessBackend().start(plan, ChildDescriptors(null, out_inner, out_inner), Watch(lifeline, group))
    os.close(out_inner)
    back = sandbox.read_back()
    assert back.verified, back
    sandbox.release()
    first = os.read(out, 4096)
    if kill:
        sandbox.kill()
    ended = None if kill else sandbox.ended()
    sandbox.kill()
    sandbox.wait()
    assert group.empty()
    text = first.decode() + os.read(out, 65536).decode()
    os.close(held)
    return ended and os.waitstatus_to_exitcode(ended.status), text, group


HOG = """
import os
if os.fork() == 0:
    os.setsid()
    print("ready", flush=True)
    kept = [bytearray(1 << 20) for _ in range(4000)]
os.wait()
"""
SOCKETS = """
import socket
for family in (1, 2, 10, 16):
    try: socket.socket(family, socket.SOCK_DGRAM); print(family)
    except OSError as error: print(family, error.errno)
try: print(open('/job/main.py').read(1))
except OSError as error: print(error.errno)
"""


@check
def process_backend():
    for uid in (1000, 65534):
        status, text, group = process_run(SOCKETS, LimitValue(), uid)
        seen = text.split("\n")
        # glibc makes sockets by `socketcall` there, which no filter can see into: it is absent.
        by_socketcall = os.uname().machine == "s390x"
        expected = ["1 38", "2 38", "10 38", "16 38"] if by_socketcall else ["1", "2 13", "10 13", "16 13"]
        assert seen[:4] == expected, text
        assert seen[4] == ("13" if landlock.abi() else '"'), text
        assert status == 0, status
        group.remove()
        assert group.removed
    print("Landlock ABI", landlock.abi())


@check
def process_backend_with_a_memory_limit():
    status, text, group = process_run(HOG, MEMORY, 1000)
    assert group.oom_killed(), (status, text)
    assert status == -signal.SIGKILL, (status, text)
    group.remove()
    assert group.removed


@check
def process_backend_killed():
    escape = "import os, signal\nif os.fork() == 0:\n os.setsid()\n print('ready', flush=True)\nsignal.pause()"
    _, text, group = process_run(escape, LimitValue(processes=9), 1000, kill=True)
    assert text == "ready\n", text
    group.remove()
    assert group.removed


def whole_run(script, backend, params, base):
    return sbc_runtime.load("/job/limits.sbb").run(
        ["/usr/bin/python3", "-I", "-S", "-c", script],
        params=params,
        backend=backend,
        allow_wider=True,
        cgroup_base=base,
    )


def whole_runs(base):
    for backend in BACKENDS:
        hog = whole_run(HOG, backend, {"memory": 48 << 20}, base)
        assert (hog.kind, hog.code) == ("memory-limit", 137), hog
        how = {one.key: one.how for one in hog.limits}
        assert how == {"memory": ("cgroup",), "processes": ("cgroup",), "core-size": ("rlimit",)}, how
        assert hog.cgroup.startswith(base + "/sbc-run-"), hog
        assert hog.isolation.verified, hog
        fine = whole_run(OWN_CGROUP, backend, {"memory": 48 << 20}, base)
        assert (fine.kind, fine.code) == ("exited", 0), fine
        # Placed before its cgroup namespace was made, so that this shows nothing above; the process backend makes none.
        seen = fine.cgroup.removeprefix(TOP) if backend == "process" else "/"
        assert fine.stdout.kept.decode() == f"0::{seen}\n", fine
        assert fine.usage.memory > 1 << 20, fine.usage
        bomb = whole_run(BOMB, backend, {"memory": 48 << 20}, base)
        # The interpreter itself and the children: 20 tasks of the command's own.
        assert bomb.stdout.kept in (b"19\n", b"20\n"), bomb
        assert (bomb.kind, bomb.status) == ("exited", 0), bomb
        assert any("pids.events" in one for one in bomb.notes), bomb
        aborted = whole_run(BOMB + "    os.abort()", backend, {"memory": 48 << 20}, base)
        assert (aborted.kind, aborted.code) == ("process-limit", 137), aborted
        child = whole_run(CHILD_HOG, backend, {"memory": 48 << 20}, base)
        assert (child.kind, child.code) == ("memory-limit", 137), child
        leaves_no_folder(base)


OWN_CGROUP = "print(*[line.strip() for line in open('/proc/self/cgroup') if line.startswith('0::')])"
BOMB = """
import os, signal
made = 0
try:
    while made < 100:
        if os.fork() == 0: signal.pause()
        made += 1
except OSError:
    print(made)
"""


FIRST_IN_LINE = """
import os, resource
print(*resource.getrlimit(resource.RLIMIT_NICE), *resource.getrlimit(resource.RLIMIT_RTPRIO))
for attempt in (lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), lambda: os.nice(-1)):
    try: attempt(); print("done")
    except PermissionError: print("refused")
"""


@check
def a_callers_right_to_be_first_in_line_is_not_passed_on():
    for one in (resource.RLIMIT_NICE, resource.RLIMIT_RTPRIO):
        resource.setrlimit(one, (30, 30))
    become_user()
    os.environ["HOME"] = "/tmp"
    for backend in BACKENDS:
        seen = whole_run(FIRST_IN_LINE, backend, {"memory": 48 << 20}, None)
        assert seen.stdout.kept.split() == [b"0", b"0", b"0", b"0", b"refused", b"refused"], seen


CHILD_HOG = """
import os, signal
# Whatever the hog's parent makes of its end.
signal.signal(signal.SIGCHLD, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
if os.fork() == 0:
    kept = [bytearray(1 << 20) for _ in range(4000)]
while True: signal.pause()
"""


@check
def whole_runs_as_root():
    whole_runs(TOP + "/plain")


@check
def whole_runs_of_a_user():
    delegate()
    with open(TOP + "/user/runner/cgroup.procs", "w") as file:
        file.write(str(os.getpid()))
    become_user()
    os.environ["HOME"] = "/tmp"
    whole_runs(TOP + "/user")


@check
def a_base_by_the_variable_and_one_that_is_found():
    delegate()
    with open(TOP + "/user/runner/cgroup.procs", "w") as file:
        file.write(str(os.getpid()))
    become_user()
    os.environ["HOME"] = "/tmp"
    for variable in ({}, {"SBC_CGROUP_BASE": TOP + "/user"}, {"SBC_CGROUP_BASE": TOP + "/plain"}):
        os.environ.pop("SBC_CGROUP_BASE", None)
        os.environ.update(variable)
        for backend in BACKENDS:
            seen = whole_run("print(1)", backend, {"memory": 48 << 20}, None)
            assert (seen.kind, seen.code) == ("exited", 0), seen
            how = {one.key: one.how for one in seen.limits}
            if variable.get("SBC_CGROUP_BASE", "").endswith("/plain"):
                assert seen.cgroup is None, seen
                assert "cgroup" not in how["memory"] + how["processes"], how
                assert f"no cgroup: {TOP}/plain may not be written by uid 1000" in seen.notes, seen.notes
            else:
                assert seen.cgroup.startswith(TOP + "/user/sbc-run-"), seen
                assert how["memory"] == ("cgroup",), how
    leaves_no_folder(TOP + "/user")


@check
def the_callers_cgroup_of_now():
    """The resident helper was started in another one than the caller is in at the second call."""
    where = "print(*[line.strip() for line in open('/proc/self/cgroup') if line.startswith('0::')])"
    for name in ("first", "second"):
        os.mkdir(f"{TOP}/{name}")
        with open(f"{TOP}/{name}/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))
        seen = whole_run(where, "process", {"memory": 48 << 20}, "/tmp")
        assert seen.stdout.kept.decode() == f"0::/{name}\n", seen


HANDLER = """#!/usr/bin/busybox sh
busybox cat > /dev/null
busybox touch /tmp/dumped-$1
"""


@check
def a_program_that_core_dumps_are_piped_to_is_not_started():
    """`core-size 0` is RLIMIT_CORE 1: at 0 the kernel would start it. The control does not have it."""
    with open("/tmp/handler", "w") as file:
        file.write(HANDLER)
    os.chmod("/tmp/handler", 0o755)
    with open("/proc/sys/kernel/core_pattern", "w") as file:
        file.write("|/tmp/handler %e")
    for name, size in (("at0", 0), ("unlimited", resource.RLIM_INFINITY)):
        pid = os.fork()
        if pid == 0:
            resource.setrlimit(resource.RLIMIT_CORE, (size, size))
            with open("/proc/self/comm", "w") as file:
                file.write(name)
            os.abort()
        assert ended(pid) == -signal.SIGABRT
        end = time.monotonic() + 20
        while not os.path.exists("/tmp/dumped-" + name) and time.monotonic() < end:
            time.sleep(0.05)
        assert os.path.exists("/tmp/dumped-" + name), "the control: it is started"
    for backend in BACKENDS:
        script = f"import ctypes, os; ctypes.CDLL(None).prctl(15, b'{backend}', 0, 0, 0); os.abort()"
        seen = whole_run(script, backend, {"memory": 48 << 20}, None)
        assert (seen.kind, seen.code) == ("signalled", 134), seen
    time.sleep(1)
    assert sorted(one for one in os.listdir("/tmp") if one.startswith("dumped-")) == ["dumped-at0", "dumped-unlimited"]
    with open("/proc/sys/kernel/core_pattern", "w") as file:
        file.write("core")


failed = []
for one in checks:
    print(one.__name__, flush=True)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            one()
            status = 0
        except BaseException:
            traceback.print_exc(file=sys.stdout)
        finally:
            sys.stdout.flush()
            os._exit(status)
    if ended(pid):
        failed.append(one.__name__)
print(os.uname().machine, os.uname().release, len(checks), "checks, failed:", " ".join(failed) or "none")
sys.exit(1 if failed else 0)

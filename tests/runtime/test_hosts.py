"""Hosts of every kind: whatever a process does to itself between runs, a run is right, or a clean error."""

import os
from typing import Any

import pytest

from tests.runtime.support import PATHS, RAN, SYSTEM, Caller, bundle, interpreter_for_anybody
from tests.shared_data import ROOT

FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 1MiB; devices minimal; start-in /tmp }}"
PLAIN = f"{FILES}; network none; {PATHS}"
TREE = f"""
param t : dir
files {{ root private; {SYSTEM}; write ${{t}} as /work; devices minimal; start-in /work }}
network none
{PATHS}
"""


def clean(told: list[Any], *words: str) -> None:
    """See that a run was refused for this reason."""
    assert told[:3] == ["setup-failed", 125, ""], told
    assert all(word in told[3] for word in words), told


def test_every_descriptor_closed_between_runs(caller: Caller) -> None:
    """What stands at the helper's number afterwards is the host's own, and stays open."""
    script = """
first = run()
numbers = [int(one) for one in os.listdir("/proc/self/fd")]
os.closerange(3, 1024)
mine = {}
while len(mine) < len(numbers) + 4:
    read, write = os.pipe()
    mine |= {read: os.fstat(read).st_ino, write: os.fstat(write).st_ino}
more = [run(), run()]
HOST.close()
tell([first, *more, all(os.fstat(one).st_ino == inode for one, inode in mine.items())])
"""
    assert caller.host(script, bundle(PLAIN)) == [RAN, RAN, RAN, True]


def test_a_host_that_ignores_its_children(caller: Caller) -> None:
    script = """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
runs = [run()]
os.kill(children()[0], signal.SIGKILL)
while children():
    pass
tell([*runs, run()])
"""
    assert caller.host(script, bundle(PLAIN)) == [RAN, RAN]


def test_a_thread_that_waits_for_any_child(caller: Caller) -> None:
    """The helper is reaped by somebody else; a child that has its number by then is not waited for."""
    script = """
import signal, threading, time
going = True


def reap():
    while going:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(0.001)


thread = threading.Thread(target=reap)
thread.start()
runs = [run()]
os.kill(children()[0], signal.SIGKILL)
while children():
    time.sleep(0.001)
runs += [run(), run()]
going = False
HOST.close()
thread.join()
tell(runs)
"""
    assert caller.host(script, bundle(PLAIN)) == [RAN, RAN, RAN]


def test_forks_and_processes_of_multiprocessing(caller: Caller) -> None:
    script = """
import multiprocessing, threading
multiprocessing.set_executable(sys.executable)


def work(pipe):
    pipe.send(run())


runs = [run()]
going = profile.start(["/bin/sh", "-c", "sleep 0.3; echo hi; exit 7"])
here, there = multiprocessing.get_context("fork").Pipe()
one = multiprocessing.get_context("fork").Process(target=work, args=(there,))
one.start()
runs.append(here.recv())
one.join()
pid = os.fork()
if pid == 0:
    os._exit(run()[1])
runs += [["status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])], run(), told(going.wait())]
tell(runs)
"""
    assert caller.host(script, bundle(PLAIN)) == [RAN, RAN, ["status", 7], RAN, RAN]


def test_multiprocessing_with_new_interpreters(caller: Caller) -> None:
    tree = caller.tree()
    program = tree / "spawned.py"
    program.write_text(
        "import json, multiprocessing, sys\n"
        "def work(runtime, bundle, pipe):\n"
        "    sys.path.insert(0, runtime)\n"
        "    import sbc_runtime\n"
        "    pipe.send(sbc_runtime.load(bundle).run(['/bin/sh', '-c', 'exit 7']).code)\n"
        "if __name__ == '__main__':\n"
        "    asked = json.load(sys.stdin)\n"
        "    told = []\n"
        "    for kind in ('spawn', 'forkserver'):\n"
        "        context = multiprocessing.get_context(kind)\n"
        "        here, there = context.Pipe()\n"
        "        one = context.Process(target=work, args=(*asked, there))\n"
        "        one.start()\n"
        "        told.append(here.recv())\n"
        "        one.join()\n"
        "    print(told)\n"
    )
    program.chmod(0o644)
    asked = f'["{ROOT / "runtime"}", "{bundle(PLAIN)}"]'
    assert caller.python([str(program)], asked) == "[7, 7]\n"


def test_subprocesses_of_asyncio_at_the_same_time(caller: Caller) -> None:
    script = """
import asyncio


async def theirs(number):
    one = await asyncio.create_subprocess_exec("/bin/sh", "-c", f"sleep 0.0{number}; exit {number}")
    return await one.wait()


async def ours():
    return await asyncio.to_thread(run)


async def every():
    return await asyncio.gather(*(one for number in range(1, 6) for one in (theirs(number), ours())))


tell(asyncio.run(every()))
"""
    assert caller.host(script, bundle(PLAIN)) == [one for number in range(1, 6) for one in (number, RAN)]


def test_another_folder_between_runs(caller: Caller) -> None:
    script = """
command = ["/bin/sh", "-c", "ls"]
runs = []
for name in ("one", "two"):
    os.makedirs(os.path.join(tree, name, f"in-{name}"))
    os.chdir(os.path.join(tree, name))
    if os.geteuid() == 0:
        os.chown(".", 65534, 65534)
    runs.append(run(command, params={"t": "."})[2])
    os.chdir("..")
    runs.append(run(command, params={"t": name})[2])
tell(runs)
"""
    told = caller.host(script, bundle(TREE))
    assert told == ["in-one\n", "in-one\n", "in-two\n", "in-two\n"]


def test_a_folder_that_is_gone(caller: Caller) -> None:
    """It matters to what is named from it, and to nothing else."""
    script = """
gone = os.path.join(tree, "gone")
os.mkdir(gone)
os.chdir(gone)
os.rmdir(gone)
tell([
    run(params={"t": tree}), run(params={"t": "."}), run(params={"t": tree}, report="here"),
    run(params={"t": tree}, report=os.path.dirname(tree) + "/report"),
])
"""
    told = caller.host(script, bundle(TREE))
    assert (told[0], told[3]) == (RAN, RAN)
    clean(told[1], "relative, and the current folder is gone", "absolute")
    clean(told[2], "relative, and the current folder is gone", "absolute")


def test_without_a_folder_to_start_in(caller: Caller) -> None:
    made = bundle(f"files {{ root private; {SYSTEM}; devices none }}; network none; {PATHS}")
    script = "gone = tree + '/gone'; os.mkdir(gone); os.chdir(gone); os.rmdir(gone); tell(run())"
    clean(caller.host(script, made), "the current folder is gone", "start-in")


def test_other_ids_between_runs() -> None:
    """The command belongs to the effective id of the call: the helper takes it on, and root's stays root's."""
    caller = Caller("root")
    script = """
show = ["/bin/sh", "-c", "cat /proc/self/uid_map /proc/self/gid_map; id -u"]


def maps(outcome):
    return outcome[2].split() or outcome[3]


sys.executable = given[1]
runs = [maps(run(show))]
os.setegid(given[0])
os.seteuid(given[0])
runs += [maps(run(show)), os.getresuid()]
os.seteuid(0)
os.setegid(0)
runs.append(maps(run(show)))
os.setgroups([])
os.setresgid(given[0], given[0], given[0])
os.setresuid(given[0], given[0], given[0])
runs.append(maps(run(show)))
tell(runs)
"""
    user = 61235
    told = caller.host(script, bundle(PLAIN), user, interpreter_for_anybody())

    def whole(number: int) -> list[str]:
        return [str(number), str(number), "1", str(number), str(number), "1", str(number)]

    assert told == [whole(65534), whole(user), [0, user, 0], whole(65534), whole(user)]


def test_another_root_between_runs() -> None:
    """In a changed root the kernel makes no user namespace (`create_user_ns`): both backends say so."""
    caller = Caller("root")
    script = """
from sbc_runtime import libc
runs = [run()]
libc.unshare(libc.CLONE_NEWNS)
libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
libc.mount("/", "/mnt", None, libc.MS_BIND | libc.MS_REC)
os.chroot("/mnt")
os.chdir("/")
runs.append(run())
empty = os.path.join(tree, "empty")
os.mkdir(empty)
os.chroot(empty)
os.chdir("/")
runs.append(run())
tell(runs)
"""
    first, second, third = caller.host(script, bundle(PLAIN))
    assert first == RAN
    clean(second, "no backend works here", "namespace:", "bwrap:", "for namespace:", "for bwrap:")
    clean(third)


def test_without_proc() -> None:
    caller = Caller("root")
    script = """
from sbc_runtime import libc
first = run()
libc.unshare(libc.CLONE_NEWNS)
libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
libc.umount("/proc")
tell([first, run(), run()])
"""
    first, *others = caller.host(script, bundle(PLAIN))
    assert first == RAN
    for one in others:
        clean(one, "no procfs is mounted at /proc", "mount -t proc proc /proc")


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "process"])
def test_few_descriptors(caller: Caller, backend: str) -> None:
    """A run works, or says what there is too little of; nothing is left open either way."""
    script = """
import resource
most = resource.getrlimit(resource.RLIMIT_NOFILE)
profile.run(command)  # what is imported for that keeps nothing open
found = []
for number in range(3, 44):
    HOST.close()
    before = held()
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, most[1]))
    try:
        seen = [run(backend=given[0], allow_wider=True) for _ in range(2)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    HOST.close()
    found.append([seen, held() - before, children()])
tell(found)
"""
    found = caller.host(script, bundle(PLAIN), backend)
    for seen, leaked, children in found:
        assert (leaked, children) == (0, [])
        for one in seen:
            if one != RAN:
                # All descriptors of the user that are on their way count as well, those of other tests' runs too.
                clean(one, "Too many references" if "Too many references" in one[3] else "Too many open files")
                assert "ulimit -n" in one[3]
    assert found[-1][0] == [RAN, RAN]


def test_descriptors_on_their_way_count_as_well() -> None:
    """Beyond RLIMIT_NOFILE, those that any process of the user has sent and nobody has received yet: unix(7)."""
    caller = Caller("user")
    script = """
import array, resource, socket
here, there = socket.socketpair()
for _ in range(45):
    here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
refused = run()
there.close()
tell([refused, run()])
"""
    refused, after = caller.host(script, bundle(PLAIN))
    clean(refused, "Too many references", "ulimit -n")
    assert after == RAN


def test_few_processes() -> None:
    """The kernel counts a user's processes for RLIMIT_NPROC: each fork of ours meets it in turn."""
    caller = Caller("user")
    script = """
import resource
found = []
for number in range(1, 8):
    HOST.close()
    resource.setrlimit(resource.RLIMIT_NPROC, (number, resource.getrlimit(resource.RLIMIT_NPROC)[1]))
    found.append(run())
    resource.setrlimit(resource.RLIMIT_NPROC, (resource.getrlimit(resource.RLIMIT_NPROC)[1],) * 2)
tell([found, run()])
"""
    found, after = caller.host(script, bundle(PLAIN))
    for one in found:
        if one != RAN:
            clean(one, "Resource temporarily unavailable", "ulimit -u")
    assert found[0] != RAN
    assert after == RAN


PRLIMIT = {"x86_64": 302, "aarch64": 261}


@pytest.mark.parametrize("number", [1, 38])
def test_limits_that_cannot_be_asked_for(caller: Caller, number: int) -> None:
    """A filter around the host denies prlimit64(2): what sets no limit runs, what does is refused."""
    machine = os.uname().machine
    if machine not in PRLIMIT:
        pytest.skip(f"the number of prlimit64 on {machine} is not known here")
    script = """
import struct
from sbc_runtime import libc
code = [(0x20, 0, 0, 0), (0x15, 0, 1, given[0]), (6, 0, 0, 0x50000 | given[1]), (6, 0, 0, 0x7FFF0000)]
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
libc.FilterProgram(b"".join(struct.pack("=HBBI", *one) for one in code)).load()
tell([run(), run()])
"""
    for one in caller.host(script, bundle(PLAIN), PRLIMIT[machine], number):
        clean(one, "limits")


NEW_USER = """
import struct
from sbc_runtime import libc
from sbc_runtime.numbers import calls
numbers = calls(os.uname().machine)
first = 16 if not os.uname().machine.startswith("s390") else 24
code = [
    (0x20, 0, 0, 0), (0x15, 5, 0, numbers.clone3), (0x15, 0, 2, numbers.clone),
    (0x20, 0, 0, first), (0x45, 1, 0, libc.CLONE_NEWUSER), (6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x50001),
    (6, 0, 0, 0x50026),
]
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
libc.FilterProgram(b"".join(struct.pack("=HBBI", *one) for one in code)).load()
"""
"""A filter that denies CLONE_NEWUSER to clone(2), and all of clone3(2)."""


def test_a_refusal_names_every_backend(caller: Caller) -> None:
    script = NEW_USER + (
        "failure = profile.run(command).failure\ntell([*failure, *run(backend='namespace'), *run(backend='bwrap')])"
    )
    step, why, remedy, _, _, *alone = caller.host(script, bundle(PLAIN))
    assert step == "backend"
    assert "namespace: namespaces: " in why
    assert "bwrap: " in why.partition(" / ")[2]
    assert "for namespace: allow them in the container" in remedy
    assert "for bwrap: " in remedy.partition(" / ")[2]
    clean(alone[:4], "namespaces: ")
    clean(alone[4:])
    assert "namespace: " not in alone[7]


def test_what_was_used_instead_is_said(caller: Caller) -> None:
    """Bubblewrap makes its namespaces from its own process: where only ours are denied, it is used, and said."""
    script = """
from sbc_runtime import spawn
made = spawn._PROGRAM.replace("main(int", '''import sbc_runtime.nest
class Nest(sbc_runtime.nest.Nest):
    def __init__(self, *_):
        raise sbc_runtime.errors.SetupFailed("namespaces", "none here", "have some", 1)
sbc_runtime.nest.Nest = Nest
main(int''')
spawn._PROGRAM = made
outcome = profile.run(command)
tell([told(outcome), outcome.isolation.backend, outcome.notes])
"""
    ran, backend, notes = caller.host(script, bundle(PLAIN))
    assert (ran, backend) == (RAN, "bwrap")
    assert "the backend namespace was not used: namespaces: none here" in notes


AHEAD = """
import time
from sbc_runtime import spawn
lock = os.open(bundle, os.O_RDONLY)
os.dup2(lock, 40, inheritable=True)
spawn.ahead()
(pid,) = children()
if given[0] == "killed":
    os.kill(pid, 9)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
leads = []
if given[0] == "kept":
    while open(f"/proc/{pid}/comm").read() != "sbc-helper\\n":
        time.sleep(0.01)
    leads = [os.path.realpath(f"/proc/{pid}/fd/{one}") for one in os.listdir(f"/proc/{pid}/fd")]
HOST.adopt()
taken = HOST._helper._pid == pid
going = profile.start(["/bin/sleep", "1000"])
second = run()  # while the first goes on
going.cancel()
tell([going.wait().kind, second, run(), bundle in leads, taken])
"""


@pytest.mark.parametrize("end", ["kept", "killed"])
def test_a_helper_that_was_started_ahead(caller: Caller, end: str) -> None:
    """It is taken for one run, holds nothing of the caller's, and is replaced where it is gone."""
    assert caller.host(AHEAD, bundle(PLAIN), end) == ["cancelled", RAN, RAN, False, True]

"""The process backend: what it stops, and what it does not: it has no isolation, and says so."""

import errno
import os
import signal
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest

from sbc_runtime import landlock
from sbc_runtime.backends.interface import Backend, Sandbox
from sbc_runtime.backends.process import ProcessBackend, readiness
from sbc_runtime.backends.process_sandbox import ProcessSandbox
from sbc_runtime.backends.process_tree import look
from tests.runtime.process_runner import USER, python, reads, run, shell, writes
from tests.runtime.processes import until
from tests.runtime.support import folder

needs_landlock = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")
needs_scopes = pytest.mark.skipif(landlock.abi() < 6, reason="this kernel's Landlock has no scopes (ABI 6)")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root")


@pytest.fixture
def tree() -> Path:
    """Give a folder of the user that the command runs as, which that user can reach."""
    top = Path(tempfile.mkdtemp(dir=folder()))
    top.chmod(0o755)
    work = top / "work"
    work.mkdir()
    (work / ".git").mkdir()
    (work / "file").write_text("text")
    if os.getuid() == 0:
        for path in (work, work / ".git", work / "file"):
            os.chown(path, USER, USER)
    return work


def text_of(script: str, **spec: Any) -> str:  # noqa: ANN401
    found = shell(script, **spec)
    assert "failed" not in found, found["failed"]
    return found["text"]


def test_it_keeps_the_interfaces() -> None:
    backend: Backend = ProcessBackend()
    assert (backend.name, backend.level) == ("process", "none")
    kept: type[Sandbox] = ProcessSandbox
    assert kept
    assert readiness().ready


# What it does.


def test_a_status_is_passed_on() -> None:
    assert shell("exit 7")["status"] == 7
    assert shell("kill -TERM $$")["status"] == -signal.SIGTERM


def test_what_cannot_be_executed() -> None:
    missing = run({"argv": ["no-such-program"], "mounts": reads()})
    assert (missing["status"], missing["exec_errno"]) == (127, errno.ENOENT)
    not_a_file = run({"argv": ["/usr"], "mounts": reads()})
    assert (not_a_file["status"], not_a_file["exec_errno"]) == (126, errno.EACCES)


def test_nothing_runs_before_it_is_released(tree: Path) -> None:
    found = shell("echo x > file", cwd=str(tree), mounts=[*reads(), *writes(tree)], abandon=True)
    assert "failed" not in found
    assert (tree / "file").read_text() == "text"


def test_a_failed_set_up_runs_nothing(tree: Path) -> None:
    found = shell("echo x > file", cwd=f"{tree}/missing", mounts=[*reads(), *writes(tree)])
    assert found["failed"].startswith(f"start-in {tree}/missing: ")
    assert (tree / "file").read_text() == "text"
    assert found["leaked"] == []


def test_it_leaks_no_descriptor() -> None:
    assert shell("exit 0")["leaked"] == []
    assert shell("sleep 100 & echo ready; wait", killed=True)["leaked"] == []


def test_the_environment_is_the_profiles() -> None:
    spec = {"argv": ["/usr/bin/env"], "mounts": reads(), "environment": {"PATH": "/usr/bin", "A": "b"}}
    assert run(spec)["text"] == "PATH=/usr/bin\nA=b\n"


def test_a_session_of_its_own_and_no_descriptors() -> None:
    seen = python("import os; print(os.getsid(0) == os.getpid(), sorted(os.listdir('/proc/self/fd'))[:3])")
    assert seen["text"].startswith("True ['0', '1', '2']")
    count = python("import os; print(len(os.listdir('/proc/self/fd')))")
    assert count["text"] == "4\n", "and the one that lists them"


def test_limits() -> None:
    program = (
        "import resource as r; print([r.getrlimit(one) for one in (r.RLIMIT_NOFILE, r.RLIMIT_CORE, r.RLIMIT_CPU)])"
    )
    found = python(program, limits={"open_files": 50, "core_size": 0, "cpu": 9500})
    assert found["text"] == "[(50, 50), (1, 1), (10, 11)]\n"
    assert found["protections"]["rlimits"] is True


def test_a_fork_bomb_stops() -> None:
    program = """
import os, signal
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            signal.pause()
        made += 1
except OSError as error:
    print(error.errno, made < 100)
"""
    # Whoever runs these tests may run other things as the same user: a user of their own is needed to count.
    if os.getuid() != 0:
        pytest.skip("needs root, for a user without other processes")
    found = python(program, limits={"processes": 20})
    assert found["text"] == f"{errno.EAGAIN} True\n"


def test_the_profiles_filter_is_in_force() -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("the filter is made by hand for x86-64")
    # Denies mkdir (83) with EDOM (33), allows the rest.
    program = "200000000000000015000001530000000600000021000500060000000000ff7f"
    found = python("import os\ntry: os.mkdir('/tmp/x')\nexcept OSError as e: print(e.errno)", program=program)
    assert found["text"] == "33\n"
    assert found["protections"]["seccomp"] is True
    assert "Seccomp_filters:\t2" in text_of("grep Seccomp_filters /proc/self/status", program=program)


@pytest.mark.parametrize("network", ["none", "host"])
def test_what_is_read_back(network: str) -> None:
    found = shell("exit 0", network=network)
    wanted = {"no_new_privs", "rlimits"}
    if network == "none":
        wanted.add("seccomp")
    if landlock.abi():
        wanted.add("landlock")
    assert set(found["expected"]) == wanted
    assert found["verified"] is True
    unread = {name for name, state in found["protections"].items() if state is None}
    assert {"user_namespace", "mount_namespace", "pid_namespace", "private_root", "mounts"} <= unread
    assert shell("exit 0", network=network, newest=0)["protections"]["landlock"] is None


@needs_root
def test_root_becomes_the_host_user_without_capabilities() -> None:
    script = "id -u; id -G; grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs' /proc/self/status"
    found = run({"argv": ["/bin/sh", "-c", script], "mounts": reads(), "host_user": 65534})
    lines = found["text"].split()
    assert lines[:2] == ["65534", "65534"]
    assert lines[-2:] == ["NoNewPrivs:", "1"]
    assert set(lines[3:12:2]) == {"0" * 16}
    assert found["protections"]["capabilities"] is True


@needs_root
def test_a_setuid_program_gains_nothing(tree: Path) -> None:
    program = tree / "setuid"
    program.write_bytes(Path("/usr/bin/id").resolve().read_bytes())
    program.chmod(0o4755)
    assert text_of(f"{program} -u", mounts=[*reads(), *writes(tree)]) == f"{USER}\n"


@needs_landlock
def test_files_outside_are_closed(tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.write_text("secret")
    outside.chmod(0o666)
    mounts = [*reads(), *writes(tree)]
    assert "Permission denied" in text_of(f"cat {outside}", mounts=mounts)
    assert "Permission denied" in text_of(f"echo x > {outside}", mounts=mounts)
    assert "Permission denied" in text_of("echo x > /etc/new", mounts=mounts)
    assert text_of(f"cd {tree} && echo y > new && mkdir -p a/b && mv new a/b/ && cat a/b/new", mounts=mounts) == "y\n"
    assert outside.read_text() == "secret"


@needs_scopes
def test_the_watcher_and_the_caller_cannot_be_signalled() -> None:
    program = f"""
import os
for pid in (os.getppid(), {os.getpid()}, -1):
    try: print(os.kill(pid, 0) if pid > 0 else None)
    except OSError as error: print(error.errno)
"""
    assert python(program)["text"].split()[:2] == [str(errno.EPERM)] * 2


@needs_scopes
@pytest.mark.parametrize(("network", "seen"), [("none", errno.EPERM), ("host", 0)])
def test_abstract_sockets(network: str, seen: int) -> None:
    name = f"sbc-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        program = f"import socket; print(socket.socket(socket.AF_UNIX).connect_ex('\\0{name}'))"
        assert python(program, network=network)["text"] == f"{seen}\n"


def test_no_tcp_without_a_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = f"""
import socket
try: print(socket.socket().connect_ex(('127.0.0.1', {server.getsockname()[1]})))
except OSError as error: print(error.errno)
"""
        assert python(program, network="host")["text"] == "0\n"
        assert python(program)["text"] == f"{errno.EACCES}\n"


def test_a_terminal_of_its_own() -> None:
    found = shell("tty; test -t 0 -a -t 1 && echo yes > /dev/tty", terminal=True, devices="standard")
    assert found["text"].startswith("/dev/pts/")


# How it ends.


ESCAPE = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os.execv('/bin/sleep', ['sleep', 'TIME'])
    os._exit(0)
time.sleep(TIME)
"""


def escape(seconds: int, **spec: Any) -> dict[str, Any]:  # noqa: ANN401
    return python(ESCAPE.replace("TIME", str(seconds)), **spec)


def gone(found: dict[str, Any]) -> bool:
    return look(found["first"].split()[0]) is None


def test_who_left_the_session_is_killed_too() -> None:
    assert gone(escape(1000, killed=True))


def test_nothing_outlives_the_command() -> None:
    found = shell("(sleep 1000 > /dev/null 2>&1 & echo $!) ; exit 3")
    assert found["status"] == 3
    assert gone(found)


def test_nothing_outlives_the_host_process() -> None:
    assert gone(escape(1000, host_gone=True))


def test_a_first_thread_that_ends_hides_nothing() -> None:
    program = """
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
print(os.getpid(), flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""
    assert gone(python(program, killed=True))


# What it does not stop.


def test_git_below_a_writable_tree_can_be_changed(tree: Path) -> None:
    mounts = [*reads(), *writes(tree), {"kind": "bind", "place": f"{tree}/.git"}]
    found = shell(f"echo x > {tree}/.git/config && echo done", mounts=mounts)
    assert found["text"] == "done\n"
    assert any(f"{tree}/.git can be changed" in one[3] and one[0] == "wider" for one in found["losses"])


def test_every_file_can_be_read_without_landlock(tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.write_text("secret")
    found = shell(f"cat {outside}", newest=0)
    assert found["text"] == "secret"
    assert any(one[:3] == ["wider", "default", "files"] and "no Landlock" in one[3] for one in found["losses"])


def test_the_callers_processes_are_seen() -> None:
    found = shell(f"tr '\\0' ' ' < /proc/{os.getpid()}/cmdline")
    assert found["text"] == Path(f"/proc/{os.getpid()}/cmdline").read_text().replace("\0", " ")
    assert any("every process's name and command line" in one[3] for one in found["losses"])


def test_modes_of_files_outside_can_be_changed(tree: Path) -> None:
    other = tree / "file"
    assert text_of(f"chmod 600 {other} && echo done") == "done\n", "the tree is not granted at all"
    assert other.stat().st_mode & 0o777 == 0o600


def test_pathname_sockets_can_be_connected_to(tree: Path) -> None:
    path = tree.parent / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o777)
        server.listen()
        program = f"import socket; print(socket.socket(socket.AF_UNIX).connect_ex('{path}'))"
        found = python(program)
    assert found["text"] == "0\n"
    assert any("pathname Unix sockets" in one[3] for one in found["losses"])


def test_without_scopes_the_watcher_can_be_killed_and_a_process_lives_on(tree: Path) -> None:
    """The command kills what watches it, and what watches that: nobody is left who would find its descendant."""
    program = """
import os, signal, time
watcher = os.getppid()
parent = int(open(f'/proc/{watcher}/stat').read().rpartition(')')[2].split()[1])
print(os.getpid(), flush=True)
if os.fork() == 0:
    os.setsid()
    for one in (watcher, parent): os.kill(one, signal.SIGSTOP)  # or the watcher may still find it
    for one in (parent, watcher): os.kill(one, signal.SIGKILL)
    with open(os.environ['FILE'], 'w') as file: file.write(str(os.getpid()))
    time.sleep(1000)
time.sleep(1000)
"""
    named = tree / "pid"
    environment = {"PATH": "/usr/bin", "FILE": str(named)}
    mounts = [*reads(), *writes(tree)]
    with pytest.raises(AssertionError):  # what played the supervisor has been killed
        python(program, newest=min(landlock.abi(), 5), environment=environment, mounts=mounts)
    assert until(lambda: named.exists() and named.read_text())
    pid = int(named.read_text())
    assert look(pid) is not None, "it lives on"
    os.kill(pid, signal.SIGKILL)
    said = shell("exit 0", newest=5)["losses"]
    assert any("can kill what watches it" in one[3] for one in said)


@needs_scopes
def test_every_loss_has_a_place_a_text_and_a_reason() -> None:
    losses = shell("exit 0", limits={"memory": 1 << 30, "processes": 9, "cpu": 1000}, masks=[["kcore", True]])["losses"]
    assert all(all(one) for one in losses)
    texts = {one[2] for one in losses if one[0] == "wider"}
    assert {
        "isolation",
        "ipc",
        "files",
        "process",
        "network none",
        "memory",
        "processes",
        "cpu",
        "hide /proc/kcore",
    } <= texts

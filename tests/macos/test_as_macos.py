"""`sbc` and `sbc_runtime` where Python has what it has on macOS, with a stand-in for sandbox-exec."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.macos import stand_in
from tests.shared_data import ROOT

GATE = str(ROOT / "profiles" / "gate.sbx")
BUILDER = str(ROOT / "profiles" / "builder.sbx")


class Mac(NamedTuple):
    """A folder that stands for a Mac; `environ`: what `sbc` is started with."""

    folder: Path
    environ: dict[str, str]

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def start(self, *arguments: str, program: str | None = None, **environ: str) -> "subprocess.CompletedProcess[str]":
        place = str(self.folder / "sandbox-exec") if program is None else program
        script = str(Path(__file__).with_name("as_macos.py"))
        sources = (str(ROOT / "compiler"), str(ROOT / "runtime"))
        return subprocess.run(
            [sys.executable, script, str(self.folder / "home"), place, *sources, "--", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.tree,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            timeout=600,
        )

    def gate(self, *command: str, options: tuple[str, ...] = (), **environ: str) -> "subprocess.CompletedProcess[str]":
        asked = ("sbc", "run", GATE, "-D", f"worktree={self.tree}", "--gate", *options, "--", *command)
        return self.start(*asked, **environ)


@pytest.fixture(scope="module")
def mac(tmp_path_factory: pytest.TempPathFactory) -> Mac:
    folder = tmp_path_factory.mktemp("mac").resolve()
    for name in ("home", "tree", "tmp", "reports"):
        (folder / name).mkdir()
    stand_in.install(folder / "sandbox-exec", folder / "log")
    environ = {"PATH": "/usr/bin:/bin", "TMPDIR": str(folder / "tmp"), "API_TOKEN": "secret", "LANG": "C.UTF-8"}
    return Mac(folder, environ)


def test_a_whole_gate(mac: Mac) -> None:
    report = mac.folder / "reports" / "report.json"
    done = mac.gate("sh", "-c", "echo out; echo err >&2; exit 3", options=("--report", str(report)))
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    seen = json.loads(mac.log.read_text())
    place = seen["arguments"][1]
    assert seen["arguments"][2:6] == ["-D", f"tmpdir={mac.folder}/tmp", "-D", f"worktree={mac.tree}"]
    assert place.startswith(f"{mac.folder}/home/Library/Caches/sbc/seatbelt/")
    assert not Path(place).exists()
    assert "API_TOKEN" not in seen["environment"]
    assert seen["environment"]["HOME"] == f"{mac.folder}/home"
    made = json.loads(report.read_text())
    assert (made["backend"], made["level"], made["verified"]) == ("seatbelt", "seatbelt", False)
    assert made["environment_digest"].startswith("sha256:")
    assert (made["outcome"]["by"], made["outcome"]["code"]) == ("command", 3)
    assert mac.gate("true").returncode == 0


def test_no_sandbox_no_verdict(mac: Mac) -> None:
    asked = ("sbc", "run", GATE, "-D", f"worktree={mac.tree}", "--gate", "--", "true")
    done = mac.start(*asked, program="/nothing/sandbox-exec")
    assert done.returncode == 125
    assert done.stderr.splitlines()[0] == "gate refused: sandboxing requested but unavailable"
    asked = ("sbc", "run", BUILDER, "-D", f"worktree={mac.tree}", "--", "true")
    done = mac.start(*asked, program="/nothing/sandbox-exec")
    assert (done.returncode, "containment_unavailable" in done.stderr) == (125, True)


def test_a_builder(mac: Mac) -> None:
    asked = ("sbc", "run", BUILDER, "-D", f"worktree={mac.tree}", "--", "sh", "-c", "echo built")
    done = mac.start(*asked)
    assert (done.returncode, done.stdout, done.stderr) == (0, "built\n", "")
    names = [word.partition("=")[0] for word in json.loads(mac.log.read_text())["arguments"][3:10:2]]
    assert sorted(names) == [":HOME", "home", "tmpdir", "worktree"]


def test_a_gate_whose_sandbox_is_switched_off(mac: Mac) -> None:
    mac.log.unlink(missing_ok=True)
    done = mac.gate("sh", "-c", "env; exit 4", SBC_SANDBOX_GATES="0")
    assert done.returncode == 4
    assert "WITHOUT A SANDBOX" in done.stderr
    assert "API_TOKEN" not in done.stdout
    assert not mac.log.exists()


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "process", "oci"])
def test_other_backends_are_refused(mac: Mac, backend: str) -> None:
    done = mac.start("sbc", "run", GATE, "-D", f"worktree={mac.tree}", "--backend", backend, "--", "true")
    assert (done.returncode, f"`{backend}` is not there on macOS" in done.stderr) == (125, True), done.stderr


def test_the_doctor(mac: Mac) -> None:
    if not os.path.exists("/usr/bin/true"):
        pytest.skip("needs /usr/bin/true")
    done = mac.start("sbc", "doctor", "--json")
    found: Any = json.loads(done.stdout)
    assert (done.returncode, found["auto"], found["system"], found["uid"]) == (0, "seatbelt", "Darwin", 501)
    done = mac.start("sbc", "doctor", program="/nothing/sandbox-exec")
    assert (done.returncode, "No such file" in done.stdout, "Traceback" in done.stderr) == (1, True, False)
    lax = mac.folder / "lax"
    lax.write_text("#!/bin/sh\nexit 0\n")
    lax.chmod(0o755)
    done = mac.start("sbc", "doctor", program=str(lax))
    assert (done.returncode, "a program ran that its profile denies" in done.stdout) == (1, True)


def test_the_compiler_works(mac: Mac) -> None:
    out = mac.folder / "out"
    assert mac.start("sbc", "check", GATE).returncode == 0
    assert mac.start("sbc", "compile", GATE, "-o", str(out)).returncode == 0
    done = mac.start("sbc", "run", str(out / "gate.sbb"), "-D", f"worktree={mac.tree}", "--verbose", "--", "true")
    assert done.returncode == 0, done.stderr
    assert "seatbelt" in done.stderr


def test_the_api(mac: Mac) -> None:
    program = f"""
import sys
import sbc_runtime
from sbc_runtime import api
from sbc.pipeline import bundle_file
from sbc.diagnostics.diagnostic import Reporter
from pathlib import Path
profile = api.of_content(bundle_file(Path({GATE!r}), None, Reporter())[0])
params = {{"worktree": {str(mac.tree)!r}}}
outcome = profile.run(["sh", "-c", "cat; exit 5"], params=params, stdin=b"fed")
print(outcome.kind, outcome.code, outcome.stdout.kept, outcome.isolation.level)
print(profile.start(["sleep", "10000"], params=params, timeout=0.2).wait().kind)
print(profile.run(["true"], params=params, cgroup_base="/x").failure.step)
print([name for name in sys.modules if name in ("sbc_runtime.libc", "sbc_runtime.helper")])
"""
    done = mac.start("python", program)
    assert done.stdout.splitlines() == ["exited 5 b'fed' seatbelt", "timed-out", "backend", "[]"], done.stderr

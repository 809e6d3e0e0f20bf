"""What `sbc run` refuses because something has run out, or is not there at all: it says what would help."""

import os
import resource
import subprocess
from pathlib import Path

import pytest

import sbc_runtime
from sbc_runtime.job import BackendChoice
from tests.cli.test_run import ENVIRONMENT, SBC, sandbox
from tests.cli.test_run_edges import refused, run
from tests.runtime.support import PATHS, SYSTEM, bundle, missing

__all__ = ["sandbox"]

FILES = "write larger files (`ulimit -f`)"
ARGUMENTS = "fewer or shorter arguments"


@pytest.mark.parametrize("options", [("--backend", "namespace"), ("--backend", "bwrap"), ("--report", "r.json")])
def test_a_limit_on_files_that_is_too_low_even_for_the_set_up(options: tuple[str, ...], tmp_path: Path) -> None:
    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    refused(run(*options, cwd=tmp_path, preexec_fn=lower), FILES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("backend", "code"), [("namespace", 126), ("bwrap", 125)])
def test_an_argument_that_no_kernel_takes(backend: BackendChoice, code: int) -> None:
    """MAX_ARG_STRLEN (execve(2)); bubblewrap itself gets the command's arguments, and so is not started."""
    made = bundle(f"files {{ root private; {SYSTEM}; devices minimal; start-in / }}; network none; {PATHS}")
    outcome = sbc_runtime.load(made).run(["/bin/true", "a" * (128 << 10)], backend=backend)
    assert outcome.code == code
    assert outcome.failure is not None
    assert ARGUMENTS in outcome.failure.remedy


def test_more_arguments_than_bubblewrap_takes() -> None:
    done = run("--backend", "bwrap", command=("true", *["a"] * 10_000))
    refused(done, "maximum number of arguments", "use the namespace backend")


def test_a_report_without_a_name() -> None:
    refused(run("--report", ""), "--report: its path is empty", "nothing was run")


def test_uid_0_of_a_user_namespace_that_lacks_the_commands_id(tmp_path: Path) -> None:
    """No tree could be given to it: chown(2) would fail as well, and is not advised."""
    if os.geteuid() != 0:
        missing("root", "maps uid 0 alone")
    made = bundle(f"param t : dir; files {{ root private; {SYSTEM}; write ${{t}} as /t; devices minimal }}; {PATHS}")
    line = ["unshare", "-Ur", *SBC, "run", str(made), "-D", f"t={tmp_path}", "--", "true"]
    done = subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    refused(done, "uid 65534 is not mapped", "run it as another uid")
    assert "chown" not in done.stderr

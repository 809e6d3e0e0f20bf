"""Profiles from text, trees that the command may write to, and callers: root, and an ordinary user."""

import atexit
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sbc_runtime
from sbc_runtime.outcome import Outcome
from sbc_runtime.outcome_codec import decode
from tests.shared_data import ROOT

USER = 61234
"""An id that nobody has, for the ordinary user where root runs the tests."""

SYSTEM = "read { /usr /bin /sbin /lib /lib64 /etc/alternatives /etc/ld.so.cache } optional"
PATHS = 'environment { set PATH = "/usr/bin:/bin" }'

REQUIRED = frozenset(os.environ.get("SBC_REQUIRE", "").split(",")) - {""}


def missing(what: str, why: str) -> None:
    """Skip, saying why; where `SBC_REQUIRE` names what is missing, fail."""
    if what in REQUIRED:
        pytest.fail(f"SBC_REQUIRE={what}: {why}")
    pytest.skip(f"needs {what}: {why}")


@cache
def folder() -> Path:
    """A folder that every user can search, removed at the end."""
    made = Path(tempfile.mkdtemp(prefix="sbc-test-", dir=os.environ.get("SBC_TEST_DIR", "/var/tmp")))
    made.chmod(0o755)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def bundle(text: str) -> Path:
    """Compile a profile, given whole or as the inside of a `profile` block."""
    from sbc.diagnostics.diagnostic import Reporter
    from sbc.pipeline import compile_file

    whole = text if text.startswith("sbx 1") else f"sbx 1\nprofile test {{\n{text}\n}}\n"
    source = folder() / f"{abs(hash(whole)):x}.sbx"
    source.write_text(whole)
    made = compile_file(source, None, ("bundle",), Reporter(), allow_wider=True)
    content = next(one.content for one in made.files if one.name.endswith(".sbb"))
    target = source.with_suffix(".sbb")
    target.write_bytes(content)
    target.chmod(0o644)
    return target


@cache
def stock(name: str) -> Path:
    """Compile a profile of `profiles/`."""
    from sbc.diagnostics.diagnostic import Reporter
    from sbc.pipeline import compile_file

    made = compile_file(ROOT / "profiles" / f"{name}.sbx", None, ("bundle",), Reporter(), allow_wider=True)
    target = folder() / f"{name}.sbb"
    target.write_bytes(next(one.content for one in made.files if one.name.endswith(".sbb")))
    target.chmod(0o644)
    return target


@cache
def interpreter_for_anybody() -> str | None:
    """An interpreter that an ordinary user can execute."""
    for one in ("/usr/bin/python3", sys.executable):
        test = "import sys; sys.exit(sys.version_info < (3, 11))"
        try:
            done = subprocess.run([one, "-c", test], user=USER, group=USER, extra_groups=[], check=False, cwd="/")
        except OSError:
            continue
        if done.returncode == 0:
            return one
    return None


HOST = """
import json, os, sys
runtime, bundle, tree, *given = json.load(sys.stdin)
sys.path.insert(0, runtime)
import sbc_runtime
from sbc_runtime.host import HOST
profile = sbc_runtime.load(bundle)
command = ["/bin/sh", "-c", "echo hi; exit 7"]


def told(outcome):
    return [outcome.kind, outcome.code, outcome.stdout.kept.decode(), str(outcome.failure or "")]


def run(command=command, **options):
    return told(profile.run(command, **options))


def tell(what):
    print(json.dumps(what))


def held():
    return len(os.listdir("/proc/self/fd"))


def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(one) for one in file.read().split()]
"""
"""What every script of a host process begins with."""

RAN = ["exited", 7, "hi\n", ""]
"""What `run()` tells of a run that went as it should."""


class Caller:
    """Who calls `run`: `root`, or `user`."""

    def __init__(self, name: str, **always: Any) -> None:  # noqa: ANN401 - as below
        """`always`: options that every run has, unless it names another."""
        self.name = name
        self.always = always
        self.other = name == "user" and os.geteuid() == 0
        if name == "root":
            if os.geteuid() != 0:
                missing("root", "these tests are run by an ordinary user")
        elif self.other and interpreter_for_anybody() is None:
            missing("namespace", "no interpreter can be executed by an ordinary user")

    @property
    def owner(self) -> int:
        """Whom trees have to belong to."""
        return 65534 if self.name == "root" else USER if self.other else os.geteuid()

    def tree(self, name: str | None = None) -> Path:
        """Make an empty folder that the command may write to."""
        made = folder() / name if name else Path(tempfile.mkdtemp(dir=folder()))
        made.mkdir(exist_ok=True)
        self.own(made)
        return made

    def own(self, *paths: Path) -> None:
        """Give paths to the command."""
        for one in paths:
            if os.geteuid() == 0:
                os.chown(one, self.owner, self.owner, follow_symlinks=False)
            if one.is_dir():
                one.chmod(0o755)

    def run(
        self,
        bundle: Path,
        argv: list[str] | str,
        params: dict[str, Any] | None = None,
        *,
        stdin: bytes | None = None,
        timeout: float | None = None,
        cwd: str = "/",
        environ: dict[str, str] | None = None,
        **options: Any,  # noqa: ANN401 - those of `Profile.run`
    ) -> Outcome:
        """Run a command; a text is one for the shell."""
        command = ["/bin/sh", "-c", argv] if isinstance(argv, str) else argv
        options = {**self.always, **options}
        values = {name: str(value) for name, value in (params or {}).items()}
        if not self.other and environ is None and cwd == "/":
            before = Path.cwd()
            os.chdir(cwd)
            try:
                profile = sbc_runtime.load(bundle)
                return profile.run(command, params=values, stdin=stdin, timeout=timeout, **options)
            finally:
                os.chdir(before)
        asked = {
            "bundle": str(bundle),
            "argv": command,
            "params": values,
            "stdin": None if stdin is None else base64.b64encode(stdin).decode(),
            "timeout": timeout,
            "cwd": cwd,
            "environ": environ or {},
            "options": options,
        }
        done = self.python([str(ROOT / "tests/runtime/drive.py"), str(ROOT / "runtime")], json.dumps(asked))
        text, stdout, stderr = json.loads(done)
        return decode(base64.b64decode(text), base64.b64decode(stdout), base64.b64decode(stderr))

    def host(
        self, script: str, made: Path, *given: object, environ: dict[str, str] | None = None, utf8: bool = True
    ) -> Any:  # noqa: ANN401 - what the script tells
        """Run a host process of its own as this caller: see `HOST`. `given`: what the script finds in `given`."""
        tree = self.tree()
        told = json.dumps([str(ROOT / "runtime"), str(made), str(tree), *given])
        mode = [] if utf8 else ["-X", "utf8=0"]
        return json.loads(self.python([*mode, "-c", HOST + script], told, environ))

    def python(self, arguments: list[str], text: str = "", environ: dict[str, str] | None = None) -> str:
        """Run an interpreter as this caller, with an empty environment or this one."""
        program = interpreter_for_anybody() if self.other else sys.executable
        assert program is not None
        more: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": []} if self.other else {}
        done = subprocess.run(
            [program, "-I", *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            env=environ or {},
            cwd="/",
            timeout=600,
            **more,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def out(outcome: Outcome) -> str:
    """What a command that was run and exited with 0 wrote."""
    assert outcome.kind == "exited", (outcome.kind, outcome.failure, outcome.stderr.kept)
    assert outcome.status == 0, (outcome.status, outcome.stdout.kept, outcome.stderr.kept)
    return outcome.stdout.kept.decode()

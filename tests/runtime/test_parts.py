"""The parts that need no kernel: classification, parameters, environment, rlimits, the filters' rules."""

import re
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc_runtime import classify
from sbc_runtime.arch import ARCHES
from sbc_runtime.backends.interface import Ended
from sbc_runtime.contents import Param
from sbc_runtime.environment import build, matches
from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Kind
from sbc_runtime.params import fill
from sbc_runtime.plan import Environment, Pattern, Statement, Variable
from sbc_runtime.rlimits import counts_per_namespace
from sbc_runtime.seccomp import needs_supervisor

NOTHING = classify.Seen(None, 0, None, 0, None)
MEMORY = NOTHING._replace(memory_budget=1000)
CPU = NOTHING._replace(cpu_budget=1000)
KILLED = Ended(signal.SIGKILL, 0)
FAILED = Ended(1 << 8, 0)


@pytest.mark.parametrize(
    ("ended", "seen", "kind"),
    [
        (FAILED, NOTHING, "exited"),
        (KILLED, NOTHING, "signalled"),
        (None, NOTHING, "sandbox-failed"),
        (KILLED, NOTHING._replace(killed="timed-out"), "timed-out"),
        (FAILED, NOTHING._replace(killed="output-limit"), "output-limit"),
        (KILLED, MEMORY._replace(memory=899), "signalled"),
        (KILLED, MEMORY._replace(memory=900), "memory-limit"),
        (FAILED, MEMORY._replace(memory=1000), "exited"),
        (KILLED, NOTHING._replace(oom_killed=True), "memory-limit"),
        # The kernel ended the whole cgroup, init too.
        (None, NOTHING._replace(oom_killed=True), "memory-limit"),
        (None, NOTHING._replace(oom_killed=True, killed="sandbox-failed"), "memory-limit"),
        (None, NOTHING._replace(oom_killed=True, killed="timed-out"), "timed-out"),
        (FAILED, NOTHING._replace(oom_killed=True), "exited"),
        # What the kernel killed was not the command itself, which a broken pipe has ended.
        (Ended(signal.SIGPIPE, 0), NOTHING._replace(oom_killed=True), "memory-limit"),
        (Ended(signal.SIGABRT, 0), NOTHING._replace(processes_refused=True), "process-limit"),
        (KILLED, NOTHING._replace(processes_refused=True, oom_killed=True), "memory-limit"),
        (KILLED, NOTHING._replace(processes_refused=True, killed="timed-out"), "timed-out"),
        (FAILED, NOTHING._replace(processes_refused=True), "exited"),
        (KILLED, CPU._replace(cpu=949), "signalled"),
        (KILLED, CPU._replace(cpu=950), "cpu-limit"),
        (Ended(signal.SIGXCPU, 0), CPU, "cpu-limit"),
        (Ended(signal.SIGXFSZ, 0), NOTHING, "file-size"),
        (Ended(signal.SIGTERM, 0), MEMORY._replace(memory=900), "memory-limit"),
        (Ended(signal.SIGTERM, 0), MEMORY._replace(memory=899), "signalled"),
    ],
)
def test_classification(ended: Ended | None, seen: classify.Seen, kind: Kind) -> None:
    assert classify.kind(ended, seen) == kind


def test_exit_codes() -> None:
    assert classify.code("exited", Ended(7 << 8, 0)) == 7
    assert classify.code("signalled", Ended(signal.SIGTERM, 0)) == 143
    assert classify.code("timed-out", KILLED) == 124
    assert classify.code("setup-failed", None) == 125
    assert classify.code("cancelled", KILLED) == 130
    for kind in ("cpu-limit", "memory-limit", "process-limit", "output-limit", "file-size"):
        assert classify.code(kind, KILLED) == 137


def test_parameters() -> None:
    declared = (
        Param("tree", "dir", None),
        Param("size", "size", 5),
        Param("time", "duration", 7),
        Param("count", "integer", 9),
        Param("word", "text", "x"),
    )
    assert fill(declared, {"tree": "/a/../b"}, "/x") == {"tree": "/b", "size": 5, "time": 7, "count": 9, "word": "x"}
    assert fill(declared[:1], {"tree": "a/../b"}, "/x") == {"tree": "/x/b"}
    given = {"tree": "/", "size": "2KiB", "time": "3min", "count": "4", "word": "y"}
    assert fill(declared, given, "/x") == {"tree": "/", "size": 2048, "time": 180_000, "count": 4, "word": "y"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "no value"),
        ({"tree": "/", "size": "2KB"}, "is no size"),
        ({"tree": "/", "size": "-1"}, "is no size"),
        ({"tree": ""}, "is empty"),
        ({"tree": "/\0"}, "NUL"),
        ({"tree": "/", "other": "1"}, "no parameter"),
        ({"tree": 3}, "not a number"),
    ],
)
def test_wrong_parameters(given: dict[str, str | int], words: str) -> None:
    with pytest.raises(SetupFailed, match=words):
        fill((Param("tree", "dir", None), Param("size", "size", 1)), given, "/x")


AT = Statement("environment", None, None, "", "")


def environment(keep: str = "", drop: str = "", given: tuple[tuple[str, str], ...] = ()) -> Environment:
    patterns = [Pattern("keep", one, None, AT) for one in keep.split()]
    patterns += [Pattern("drop", one, None, AT) for one in drop.split()]
    return Environment(tuple(patterns), tuple(Variable(name, value, None, AT) for name, value in given))


CALLER = {"PATH": "/bin", "LC_ALL": "C", "api_token": "s", "TOKEN": "t", "HOME": "/h"}


def test_environment() -> None:
    assert build(environment(), CALLER, {}) == ()
    assert dict(build(environment("PATH LC_*"), CALLER, {})) == {"PATH": "/bin", "LC_ALL": "C"}
    assert dict(build(environment("*", "*TOKEN*"), CALLER, {})) == {"PATH": "/bin", "LC_ALL": "C", "HOME": "/h"}
    assert dict(build(environment("*", "*", (("TOKEN", "mine"),)), CALLER, {})) == {"TOKEN": "mine"}
    for name in ("", "a=b", "a\0"):
        with pytest.raises(SetupFailed):
            build(environment(given=((name, "x"),)), {}, {})


def test_patterns() -> None:
    assert matches("LC_*", "LC_ALL", fold=False)
    assert not matches("LC_*", "XLC_ALL", fold=False)
    assert not matches("path", "PATH", fold=False)
    assert matches("*key*", "API_KEY_2", fold=True)
    assert matches("a.c", "a.c", fold=False)
    assert not matches("a.c", "abc", fold=False)


@given(st.text("aAbk*\u212a\u017f\u0131.", max_size=8), st.text("aAbBkKsSiI\u212a.\n", max_size=10))
def test_patterns_are_what_regular_expressions_say(pattern: str, name: str) -> None:
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    assert matches(pattern, name, fold=False) == bool(re.fullmatch(expression, name, re.DOTALL))
    assert matches(pattern, name, fold=True) == bool(re.fullmatch(expression, name, re.DOTALL | re.IGNORECASE))


def test_kernels_that_count_per_namespace() -> None:
    assert counts_per_namespace("5.14.0")
    assert counts_per_namespace("6.1.0-18-amd64")
    assert not counts_per_namespace("5.13.19-generic")
    assert not counts_per_namespace("strange")


def test_filters_that_wait_for_an_answer() -> None:
    for ret, word in ((0x7FF00001, "trace"), (0x7FC00000, "notify")):
        program = (6).to_bytes(2, "little") + b"\0\0" + ret.to_bytes(4, "little")
        assert needs_supervisor(program, ARCHES["x86_64"]) == word

"""The coverage table, which losses are errors, and the registry."""

import subprocess
import sys

import pytest

from sbc.backends import registry
from sbc.backends.coverage import Coverage, Outcome, coverage, judged, refused, table
from sbc.backends.target import Artifact, Loss, Unsayable
from sbc.diagnostics.diagnostic import Failed, Severity
from sbc.policy.policy import Policy
from tests.resolve.lowered import policy as lowered_policy
from tests.shared_data import ROOT
from tests.targets.policies import agent_check, files, gate, origin, policy, read, rule


def outcomes(made: Policy) -> list[Outcome]:
    found: list[Outcome] = []
    for name in ("bpf", "sbpl", "bwrap"):
        target = registry.load(name)
        try:
            found.append(Outcome(target, target.emit(made)))
        except Unsayable as error:
            found.append(Outcome(target, error))
    return found


def cells(made: Coverage) -> dict[str, dict[str, str]]:
    return {
        row.origin.text: {name: cell.state for name, cell in zip(made.targets, row.cells, strict=True)}
        for row in made.rows
    }


def test_agent_check() -> None:
    made = coverage(agent_check(), outcomes(agent_check()))
    assert made.targets == ("bpf", "sbpl", "bwrap", "runtime")
    found = cells(made)
    none = "not applicable"
    assert found["syscalls"] == {"bpf": "enforced", "sbpl": none, "bwrap": none, "runtime": none}
    assert found["root private"] == {"bpf": none, "sbpl": "not written", "bwrap": "enforced", "runtime": none}
    assert found["tmp /tmp"]["bwrap"] == "left to the runtime"
    assert found["start-in /work"] == {"bpf": none, "sbpl": none, "bwrap": none, "runtime": "enforced"}
    assert found["wall 10min"] == {"bpf": none, "sbpl": none, "bwrap": none, "runtime": "enforced"}
    assert found["user 1000"] == {"bpf": none, "sbpl": none, "bwrap": "enforced", "runtime": none}
    assert found["host-user 65534"]["runtime"] == "enforced"
    assert found["read-only sys"] == {"bpf": none, "sbpl": none, "bwrap": "enforced", "runtime": none}
    assert found["no seatbelt block"]["sbpl"] == "not written"
    assert len(made.rows) == len(list(agent_check().statements()))


def test_statements_for_one_system() -> None:
    found = cells(coverage(gate(), outcomes(gate())))
    assert found["tmp /tmp"]["sbpl"] == "not applicable"
    assert found["write /private/tmp"] == {
        "bpf": "not applicable",
        "sbpl": "enforced",
        "bwrap": "not applicable",
        "runtime": "not applicable",
    }
    assert found["devices standard"]["sbpl"] == "left to the runtime"


def test_wider_stands_above_narrower() -> None:
    one = origin("files", "read /opt")
    losses = (Loss("bwrap", "narrower", one, "less"), Loss("bwrap", "wider", one, "more"))
    target = registry.load("bwrap")
    made = coverage(policy(files(read("/opt"))), [Outcome(target, Artifact((), losses))])
    assert cells(made)["read /opt"]["bwrap"] == "wider"
    assert "less; more" in table(made)


def test_which_losses_are_errors() -> None:
    one = origin("files", "read /opt")
    losses = (
        Loss("bwrap", "narrower", one, "a"),
        Loss("bwrap", "wider", one, "b"),
        Loss("bwrap", "wider", one, "c", deferred=True),
    )
    assert [(d.code, d.severity) for d in judged(losses, allow_wider=False)] == [
        ("SBX403", Severity.NOTE),
        ("SBX401", Severity.ERROR),
        ("SBX404", Severity.NOTE),
    ]
    assert [d.code for d in judged(losses, allow_wider=True)] == ["SBX403", "SBX402", "SBX404"]
    (wider,) = (d for d in judged(losses, allow_wider=False) if d.severity is Severity.ERROR)
    assert wider.title() == "`bwrap` allows more than `read /opt`: b"
    assert wider.span == one.span


def test_a_target_that_is_not_written_is_an_error_where_it_was_named() -> None:
    with pytest.raises(Unsayable) as error:
        registry.load("sbpl").emit(agent_check())
    assert refused(error.value, named=True).severity is Severity.ERROR
    assert refused(error.value, named=False).severity is Severity.NOTE
    assert (
        refused(error.value, named=False)
        .title()
        .startswith("no `sbpl` file: it cannot say `write ${workdir} as /work`")
    )


def test_the_table_is_aligned_text() -> None:
    made = policy(files(rule("read", "/opt", noexec=True)))
    lines = table(coverage(made, outcomes(made))).splitlines()
    assert lines[0].split() == ["statement", "bpf", "sbpl", "bwrap", "runtime"]
    column = lines[0].index("bwrap")
    assert {line[column - 1] for line in lines if line.startswith("test.sbx:1  ")} == {" "}
    assert lines[-1] == "test.sbx:1: bwrap: wider: bubblewrap cannot forbid running what is there" or any(
        "cannot forbid" in line for line in lines
    )


def test_targets_by_name() -> None:
    assert registry.chosen(None) == ("bpf", "sbpl", "bwrap", "docs", "bundle")
    assert registry.chosen(["bwrap", " sbpl", "bwrap"]) == ("sbpl", "bwrap")
    with pytest.raises(Failed) as failed:
        registry.chosen(["bwarp", "oci", "nothing", ""])
    told = [(d.code, d.title(), d.help()) for d in failed.value.diagnostics]
    assert told[0] == ("SBX407", "unknown target `bwarp`", "did you mean `bwrap`?")
    assert told[1] == ("SBX408", "the target `oci` is not available yet", None)
    assert told[2][2] == "the targets are `bpf`, `sbpl`, `bwrap`, `docs`, `bundle`"
    with pytest.raises(KeyError):
        registry.load("docs")


def test_no_target_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys; from sbc.backends import registry; registry.load('bwrap');"
        "print([m for m in sys.modules if m.startswith(('sbc.backends.seatbelt', 'sbc.backends.bpf', 'lark'))])"
    )
    paths = f"{ROOT / 'compiler'}:{ROOT / 'runtime'}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": paths}
    )
    assert done.stdout.strip() == "[]"


def test_what_no_block_says_is_the_runtimes() -> None:
    lowered = lowered_policy('sbx 1\nprofile p { files { root host }\n seatbelt { import "sys.sb" } }\n')
    found = cells(coverage(lowered, outcomes(lowered)))
    for text in ("no `identity` block", "no `environment` block"):
        assert found[text]["runtime"] == "enforced"
        assert found[text]["bwrap"] == "not applicable"
    assert found['import "sys.sb"']["sbpl"] == "unread"
    lowered = lowered_policy("sbx 1\nprofile p { files { root host }\n identity { user 7 } }\n")
    assert "no `identity` block" not in cells(coverage(lowered, outcomes(lowered)))

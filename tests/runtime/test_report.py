"""Reports: their schema, what they claim, their short form, and where they may be written."""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sbc_runtime
from sbc_runtime import report
from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Failure, Outcome, Protections
from sbc_runtime.prepared import Mount
from sbc_runtime.report_place import check_place, place_outside, writable
from sbc_runtime.report_text import ending, to_text
from tests.runtime.report_samples import DIGEST, ENVIRONMENT, PARAMS, bundle, outcome
from tests.runtime.support import Caller, stock
from tests.runtime.test_bwrap_finish import prepared

SCHEMA = json.loads((Path(report.__file__).parent / "report.schema.json").read_text())


def validate(found: object) -> None:
    jsonschema.validate(found, SCHEMA)  # pyright: ignore[reportUnknownMemberType] - as its stubs have it


def made(of: Outcome) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report.to_json(report.report(of, bundle(), PARAMS, ENVIRONMENT)))
    validate(found)
    return found


def test_the_schema_is_published_as_the_program_has_it() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert (Path(report.__file__).parent / "report.schema.json").read_text() == report.schema_text()


def test_a_report_says_what_the_outcome_says() -> None:
    found = made(outcome())
    assert found["report"] == "sbc-report/1"
    assert (found["run"], found["profile"], found["bundle"], found["enforcement"]) == ("0123", "p", DIGEST, DIGEST)
    assert found["environment_digest"].startswith("sha256:")
    assert found["outcome"] == {
        "kind": "exited", "by": "command", "code": 4, "status": 4, "signal": None, "failure": None,
    }  # fmt: skip
    assert (found["backend"], found["level"], found["verified"]) == ("namespace", "namespaces", True)
    assert found["protections"]["seccomp"] is True
    assert found["protections"]["landlock"] == "unread"
    assert found["filter_bytes"] == "unread"
    assert found["limits"][1] == {"key": "memory", "value": 1 << 20, "how": ["sampled", "rlimit"], "note": "note"}
    assert found["proc"] == {"masked": ["sys"], "absent": ["kcore"]}
    assert found["losses"][0]["direction"] == "wider"
    assert found["stdout"] == {"total": 3, "cut": False}


def test_nothing_is_claimed_where_no_sandbox_was_made() -> None:
    failed = outcome()._replace(
        isolation=None,
        kind="setup-failed",
        by="sandbox",
        code=125,
        status=None,
        failure=Failure("paths", "no", "do", 2),
    )
    found = made(failed)
    assert found["verified"] is False
    assert set(found["protections"].values()) == {"unread"}
    assert (found["level"], found["backend"], found["environment_digest"]) == ("none", None, None)
    assert found["outcome"]["failure"]["step"] == "paths"


@given(st.lists(st.sampled_from([True, False, None]), min_size=16, max_size=16))
def test_unread_is_never_true(states: list[bool | None]) -> None:
    isolation = outcome().isolation
    assert isolation is not None
    found = made(outcome()._replace(isolation=isolation._replace(protections=Protections(*states))))
    assert list(found["protections"].values()) == ["unread" if state is None else state for state in states]


def test_paths_that_are_not_text_survive() -> None:
    found = made(outcome()._replace(notes=(os.fsdecode(b"/a\xff\xc3\xa4"),)))
    assert found["notes"] == ["/a\udcff\xe4"]


def test_the_schema_refuses_more_and_less() -> None:
    found = made(outcome())
    for wrong in (
        {**found, "more": 1},
        {key: value for key, value in found.items() if key != "verified"},
        {**found, "verified": "unread"},
        {**found, "protections": {**found["protections"], "seccomp": None}},
        {**found, "bundle": "sha256:1"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            validate(wrong)


def test_the_short_form() -> None:
    text = to_text(report.report(outcome(), bundle(), PARAMS, ENVIRONMENT))
    lines = text.splitlines()
    assert lines[0] == "run 0123 of p: exited 4"
    assert lines[1] == "isolation: namespaces by namespace, verified; root private; network none"
    assert lines[2].startswith("in force: user, mount, pid, ipc, uts, cgroup, network, private root, read only root")
    assert "unread: landlock" in lines
    assert "limits: wall 1.5 s (timer), memory 1 MiB (sampled+rlimit)" in lines
    assert "loss, wider: write ${t} noexec (a.sbx:7): cannot" in lines


def test_the_short_form_says_who_decided() -> None:
    failure = Failure("paths", "no", "do")
    ended = outcome()._replace(kind="setup-failed", by="sandbox", code=125, status=None, failure=failure)
    assert ending(report.report(ended, bundle(), PARAMS, ENVIRONMENT)) == (
        "setup-failed, decided by the sandbox, code 125: paths: no; do"
    )
    signalled = outcome()._replace(kind="signalled", status=None, signal=9, code=137)
    assert ending(report.report(signalled, bundle(), PARAMS, ENVIRONMENT)) == "ended by signal 9"


def area(tmp_path: Path) -> Path:
    found = tmp_path / "tree"
    (found / "below").mkdir(parents=True)
    return found


@pytest.mark.parametrize(
    "name", ["tree/r.json", "tree/below/r.json", "link/r.json", "link/../tree/r.json", "tree/below/../r.json"]
)
def test_no_report_goes_where_the_command_can_write(tmp_path: Path, name: str) -> None:
    tree = area(tmp_path)
    (tmp_path / "link").symlink_to(tree / "below")
    with pytest.raises(SetupFailed, match="which the command can write"):
        place_outside((str(tree),), str(tmp_path / name))


def test_a_file_that_is_writable_alone(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text("")
    with pytest.raises(SetupFailed):
        place_outside((str(file),), str(file))
    assert place_outside((str(file),), str(tmp_path / "other")) == str(tmp_path / "other")


def test_places_that_are_none(tmp_path: Path) -> None:
    for name in ("missing/r.json", "", "."):
        with pytest.raises(SetupFailed):
            place_outside((), str(tmp_path / name))
    with pytest.raises(SetupFailed, match="is a folder"):
        place_outside((), str(area(tmp_path)))


def test_what_is_writable_is_what_the_plan_says(tmp_path: Path) -> None:
    tree = area(tmp_path)

    def mount(source: str, *, read_only: bool) -> Mount:
        return Mount("bind", "/x", source, 0, 0, True, read_only, False, 0, 0, "")

    plan = prepared(mount(str(tree), read_only=False), mount("/usr", read_only=True))
    assert writable(plan) == (str(tree),)
    with pytest.raises(SetupFailed):
        check_place(plan, str(tree / "r"))
    assert check_place(plan, str(tmp_path / "r")) == str(tmp_path / "r")


def test_a_link_is_replaced_and_never_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("kept")
    place = tmp_path / "r.json"
    place.symlink_to(target)
    report.write(report.report(outcome(), bundle(), PARAMS, ENVIRONMENT), place_outside((), str(place)))
    assert target.read_text() == "kept"
    assert not place.is_symlink()
    validate(json.loads(place.read_text()))
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_the_report_of_a_real_run() -> None:
    caller = Caller("user" if os.geteuid() else "root")
    profile = sbc_runtime.load(stock("agent-check"))
    tree = str(caller.tree())
    ran = profile.run(["/bin/sh", "-c", "exit 6"], params={"workdir": tree})
    given = (("PATH", "/usr/bin:/bin"), ("HOME", "/work"))
    found = json.loads(report.to_json(report.report(ran, profile.loaded.bundle, {"workdir": tree}, given)))
    validate(found)
    assert found["verified"] is True
    assert found["outcome"]["status"] == 6

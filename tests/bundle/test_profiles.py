"""The shipped profiles as bundles, by the whole front end; what changes their enforcement digest."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sbc.backends import registry
from sbc.backends.bundle.assemble import Parts, bundle, output
from sbc.backends.coverage import Outcome, coverage
from sbc.backends.docs.markdown import render
from sbc.backends.docs.model import document
from sbc.backends.docs.report import Report
from sbc.backends.target import Artifact, Unsayable
from sbc.data import profiles_folder
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.policy import Policy
from sbc.resolve.lower import lower
from sbc.resolve.modules import load
from sbc_runtime import bundle as bundles
from sbc_runtime.bundle import decode
from sbc_runtime.contents import Bundle
from sbc_runtime.digest import enforcement_digest

PROFILES = ("agent-check", "gate", "builder", "docker-default")


def policy_of(file: Path, name: str) -> Policy:
    reporter = Reporter()
    return lower(load(file, reporter), name, reporter)


def compiled(file: Path, name: str) -> tuple[Bundle, bytes]:
    policy = policy_of(file, name)
    outcomes: list[Outcome] = []
    for target in map(registry.load, ("bpf", "sbpl", "bwrap")):
        try:
            outcomes.append(Outcome(target, target.emit(policy)))
        except Unsayable as unsayable:
            outcomes.append(Outcome(target, unsayable))
    table = coverage(policy, outcomes)
    bpf, sbpl, bwrap = (one.result if isinstance(one.result, Artifact) else one.result.why for one in outcomes)
    assert isinstance(bpf, Artifact)
    losses = tuple(loss for one in outcomes if isinstance(one.result, Artifact) for loss in one.result.losses)
    docs = render(document(policy, Report(table, losses)))
    made = bundle(policy, Parts(bpf, sbpl, bwrap, table, docs, "0"))
    return made, output(made).content


@pytest.mark.parametrize("name", PROFILES)
def test_a_shipped_profile_is_a_bundle(name: str) -> None:
    made, data = compiled(profiles_folder() / f"{name}.sbx", name)
    assert decode(data)._replace(address="") == made
    schema: Any = json.loads(Path(bundles.__file__).with_name("bundle.schema.json").read_text("utf-8"))
    jsonschema.validate(json.loads(data), schema)  # pyright: ignore[reportUnknownMemberType]
    assert str(profiles_folder()).encode() not in data


def test_the_folder_does_not_show(tmp_path: Path) -> None:
    copy = tmp_path / "agent-check.sbx"
    copy.write_bytes((profiles_folder() / "agent-check.sbx").read_bytes())
    assert compiled(copy, "agent-check")[1] == compiled(profiles_folder() / "agent-check.sbx", "agent-check")[1]


SMALL = """\
sbx 1
profile small {
  syscalls { abi x86_64; default allow; deny EPERM { ptrace kcmp }; deny EPERM bpf }
  files { root private; read { /usr /lib } optional; write /srv; start-in /srv }
  limits { wall 1min; processes 8 }
}
"""


def digest(folder: Path, text: str) -> str:
    file = folder / "small.sbx"
    file.write_text(text, "utf-8")
    return enforcement_digest(compiled(file, "small")[0], "x86_64")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ptrace kcmp", "ptrace"),
        ("deny EPERM bpf", "deny ENOSYS bpf"),
        ("default allow", "default log"),
        ("/usr /lib", "/usr"),
        ("read", "hide"),
        ("optional", ""),
        ("start-in /srv", "start-in /usr"),
        ("1min", "2min"),
        ("  limits", "  network host\n  limits"),
        ("  limits", "  proc { hide kcore }\n  limits"),
    ],
)
def test_what_is_enforced_changes_the_digest(tmp_path: Path, old: str, new: str) -> None:
    assert old in SMALL
    assert digest(tmp_path, SMALL.replace(old, new)) != digest(tmp_path, SMALL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("profile", "# a comment\n\n## A reason.\nprofile"),
        ("ptrace kcmp", "kcmp, ptrace"),
        ("deny EPERM { ptrace kcmp }; deny EPERM bpf", "deny EPERM { bpf ptrace kcmp }"),
        ("/usr /lib", "/lib /usr"),
        ("1min", "60s"),
        ("wall 1min; processes 8", "processes 8; wall 1min"),
    ],
)
def test_what_is_not_enforced_does_not(tmp_path: Path, old: str, new: str) -> None:
    assert old in SMALL
    assert digest(tmp_path, SMALL.replace(old, new)) == digest(tmp_path, SMALL)

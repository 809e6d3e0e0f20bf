"""Documents of the sample, byte for byte; the words of rules; units."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sbc.backends.docs import html, markdown, units
from sbc.backends.docs.blocks import Code
from sbc.backends.docs.model import SECTIONS, document, sections
from sbc.backends.docs.report import Note, Report
from sbc.backends.docs.target import DocsTarget
from sbc.backends.docs.words import condition_words, exactly, verdict_words
from sbc.backends.target import Artifact
from sbc.diagnostics.diagnostic import Reporter
from sbc.pipeline import load_policy
from sbc.policy.conditions import ALWAYS, NEVER, AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.process import Environment
from sbc.policy.syscalls import Syscalls
from sbc.record import replaced
from sbc_runtime.action import Action, Verdict, errno_verdict
from tests.bundle.samples import coverage, origin, parts, policy
from tests.docs.reader import Seen

GOLDEN = Path(__file__).parent.parent / "golden" / "docs"


def report() -> Report:
    made = parts(policy()).bwrap
    assert isinstance(made, Artifact)
    return Report(coverage(), made.losses)


def bare() -> Policy:
    """A profile that says as little as it may."""
    return replaced(
        policy(),
        name="bare",
        reason="",
        params=(),
        syscalls=Syscalls((), origin("syscalls", "syscalls")),
        proc=(),
        environment=Environment(),
        identity=(),
        limits=(),
        overrides=(),
    )


EVERYTHING = """\
sbx 1
use <stock>
## R-profile.
profile p {
  ## R-param.
  param w : dir
  ## R-syscalls.
  syscalls {
    abi x86_64
    ## R-default.
    default allow
    ## R-foreign.
    foreign-abi kill-thread
    ## R-newer.
    newer than linux 6.12 deny ENOSYS
    include @stock-denylist
    ## R-rule.
    deny EPERM getpid
    ## R-argument.
    deny EPERM kill when sig == 9
  }
  ## R-files.
  files {
    ## R-root.
    root host
    ## R-read.
    read /
    ## R-write.
    write ${w}
    ## R-tmp.
    tmp /tmp
    ## R-devices.
    devices minimal
    ## R-start.
    start-in /
    ## R-on.
    on linux { read /opt }
  }
  ## R-proc.
  proc {
    ## R-hide.
    hide kcore
  }
  ## R-network.
  network none
  ## R-environment.
  environment {
    ## R-keep.
    keep LANG
    ## R-set.
    set A = "1"
  }
  ## R-identity.
  identity {
    ## R-user.
    user 1000
  }
  ## R-limits.
  limits {
    ## R-wall.
    wall 1s
  }
  ## R-seatbelt.
  seatbelt {
    ## R-sbpl-default.
    default deny
    ## R-sbpl.
    allow sysctl-read
  }
}
"""


def test_every_reason_is_shown(tmp_path: Path) -> None:
    (tmp_path / "p.sbx").write_text(EVERYTHING)
    made = document(load_policy(tmp_path / "p.sbx", None, Reporter()), Report())
    reasons = re.findall(r"R-[a-z-]+\.", EVERYTHING)
    for text in (markdown.render(made), html.render(made)):
        assert [reason for reason in reasons if reason not in text] == []


def test_a_blocks_reason_begins_its_section(tmp_path: Path) -> None:
    (tmp_path / "p.sbx").write_text(EVERYTHING)
    made = markdown.render(document(load_policy(tmp_path / "p.sbx", None, Reporter()), Report()))
    assert "## Limits\n\nR-limits.\n\n| Limit" in made
    assert "## Filters\n\nR-syscalls.\n\n- " in made


def test_the_nearest_block_that_has_a_reason_gives_it(tmp_path: Path) -> None:
    text = """\
sbx 1
profile a {
  files { root host }
  ## Of the parent.
  limits { wall 1s }
  ## Of the parent.
  identity { user 1 }
}
profile b extends a {
  limits { cpu 1s }
  ## Of the child.
  identity { user 2 }
}
"""
    (tmp_path / "p.sbx").write_text(text)
    policy = load_policy(tmp_path / "p.sbx", "b", Reporter())
    assert dict(policy.block_reasons) == {"identity": "Of the child.", "limits": "Of the parent."}


def test_what_targets_say_is_shown() -> None:
    made = document(policy(), Report(notes=(Note("bpf", "no `x` here"),)))
    assert "## Notes\n\n- bpf: no `x` here.\n" in markdown.render(made)


@pytest.mark.parametrize("name", ["sample", "bare"])
def test_golden(name: str) -> None:
    made = markdown.render(document(*((policy(), report()) if name == "sample" else (bare(), Report()))))
    file = GOLDEN / f"{name}.md"
    if os.environ.get("SBC_GOLDEN") == "update":
        file.write_text(made, "utf-8")
    assert made == file.read_text("utf-8")


def test_sections_have_their_keys_in_order() -> None:
    assert tuple(section.key for section in sections(policy(), report())) == SECTIONS


def test_the_target_writes_the_markdown() -> None:
    target = DocsTarget(report())
    (file,) = target.emit(policy()).files
    assert (target.name, target.blocks, file.name) == ("docs", frozenset(), "sample.md")
    assert file.content.decode() == markdown.render(document(policy(), report()))


def test_the_page_needs_nothing_else() -> None:
    page = html.render(document(policy(), report()))
    assert page == html.render(document(policy(), report()))
    for outside in ("http:", "https:", "src=", "url(", "@import", "<script", "<link"):
        assert outside not in page
    seen = Seen(page)
    assert page.startswith("<!doctype html>")
    assert seen.tags.count("h1") == 1
    assert seen.tags.count("section") == len(document(policy(), report()).sections)
    assert "@media (prefers-color-scheme: dark)" in page
    assert "@media print" in page


def test_the_page_says_what_the_markdown_says() -> None:
    page = Seen(html.render(document(policy(), report())))
    for words in ("Fails with ENOSYS", "absent", "60000 to 60099", "512 MiB", "no budget of inodes", "kcmp"):
        assert words in page.text


def test_markdown_does_not_import_jinja2() -> None:
    modules = "sbc.backends.docs.target, sbc.backends.docs.check, sbc.backends.bundle.assemble"
    code = f"import sys, {modules}; print(*sys.modules)"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert not {"jinja2", "markupsafe", "lark"} & set(done.stdout.split())


def words(text: str) -> str:
    found = condition_words(Origin("syscalls", text))
    assert found is not None
    return "".join(f"`{piece.text}`" if isinstance(piece, Code) else piece.text for piece in found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("deny EPERM clone when flags has any @ns", " when `flags` has any of `@ns`"),
        (
            "deny EPERM { a b } unless family in { AF_UNIX, AF_INET }",
            " unless `family` is one of `AF_UNIX`, `AF_INET`",
        ),
        ("allow x when arg0:u32 in 1..0x10", " when `arg0:u32` is between `1` and `0x10`"),
        ("allow x when a in @group", " when `a` is in `@group`"),
        ("allow x when flags & O_ACCMODE == O_RDONLY", " when `flags` & `O_ACCMODE` is `O_RDONLY`"),
        ("allow x when a has all A | B", " when `a` has all of `A` | `B`"),
        ("allow x when a has none { A B }", " when `a` has none of `A`, `B`"),
        ("allow x when a has only @g", " when `a` has nothing but `@g`"),
        (
            "allow x when not (a < 1 or b >= -2) and c != 3",
            " when not (`a` is below `1` or `b` is at least `-2`) and `c` is not `3`",
        ),
        ("allow x when a <= 1", " when `a` is at most `1`"),
        ("allow x when a > 1", " when `a` is above `1`"),
        ("allow x when a == ?", " when `a` is `?`"),
        ("allow x when a = 1", " when `a = 1`"),
    ],
)
def test_conditions_in_words(text: str, said: str) -> None:
    assert words(text) == said


def test_a_rule_without_a_condition_has_no_words() -> None:
    assert condition_words(Origin("syscalls", "deny EPERM { whence unlessx }")) is None


FLAGS = Masked(0, 64, 0x7E020000, 0)
ONE, TWO = Between(0, 32, 1, 1), Masked(0, 32, 0xFFFFFFFF, 2)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (FLAGS, "arg0:u64 & 0x7e020000 == 0"),
        (Not(FLAGS), "arg0:u64 & 0x7e020000 != 0"),
        (TWO, "arg0:u32 == 2"),
        (Not(TWO), "arg0:u32 != 2"),
        (AnyOf((ONE, TWO)), "arg0:u32 in { 1 2 }"),
        (Not(AnyOf((ONE, TWO))), "arg0:u32 not in { 1 2 }"),
        (AnyOf((ONE, Between(1, 32, 2, 2))), "arg0:u32 == 1 or arg1:u32 == 2"),
        (Between(2, 16, 0, 9), "arg2:u16 <= 9"),
        (Between(2, 16, 9, 0xFFFF), "arg2:u16 >= 9"),
        (Between(2, 16, 9, 1000), "arg2:u16 in 9..0x3e8"),
        (Not(Between(2, 16, 9, 10)), "not (arg2:u16 in 9..10)"),
        (
            AllOf((FLAGS, AnyOf((ONE, FLAGS)))),
            "arg0:u64 & 0x7e020000 == 0 and (arg0:u32 == 1 or arg0:u64 & 0x7e020000 == 0)",
        ),
        (ALWAYS, "always"),
        (NEVER, "never"),
    ],
)
def test_conditions_exactly(condition: Condition, said: str) -> None:
    assert exactly(condition) == said


@pytest.mark.parametrize(
    ("verdict", "text", "said"),
    [
        (errno_verdict(11), "deny EWOULDBLOCK x", "fails with EWOULDBLOCK"),
        (errno_verdict(11), "default", "fails with EAGAIN"),
        (errno_verdict(4000), "deny 4000 x", "fails with 4000"),
        (Verdict(Action.TRACE, 7), "trace 7 x", "asks the tracer, with message 7"),
        (Verdict(Action.LOG), "log x", "is allowed and logged"),
        (Verdict(Action.KILL_THREAD), "kill-thread x", "kills the thread"),
    ],
)
def test_verdicts_in_words(verdict: Verdict, text: str, said: str) -> None:
    assert "".join(piece.text for piece in verdict_words(verdict, Origin("syscalls", text), "x86_64")) == said


@pytest.mark.parametrize(
    ("said", "right"),
    [
        (units.size(0), "0 bytes"),
        (units.size(1023), "1023 bytes"),
        (units.size(1024), "1 KiB"),
        (units.size(1536 << 10), "1536 KiB"),
        (units.size(3 << 40), "3 TiB"),
        (units.duration(1), "1 ms"),
        (units.duration(1500), "1500 ms"),
        (units.duration(90_000), "90 s"),
        (units.duration(600_000), "10 min"),
        (units.duration(7_200_000), "2 h"),
    ],
)
def test_units(said: str, right: str) -> None:
    assert said == right

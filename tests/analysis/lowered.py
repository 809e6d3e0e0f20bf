"""Policies for tests: of a shipped profile, or of a text."""

from functools import cache
from pathlib import Path

from sbc.analysis.lint import lint
from sbc.data import profiles_folder
from sbc.diagnostics.diagnostic import Diagnostic, Reporter
from sbc.policy.policy import Policy
from sbc.resolve.lower import lower
from sbc.resolve.modules import load

SHIPPED = ("agent-check", "gate", "builder", "docker-default")


def lowered(path: Path, profile: str | None = None) -> tuple[Policy, tuple[Diagnostic, ...]]:
    """Give the policy of a file, and everything that resolving and the checks report."""
    reporter = Reporter()
    modules = load(path, reporter)
    policy = lower(modules, profile, reporter)
    lint(policy, modules, reporter)
    return policy, reporter.diagnostics


@cache
def shipped(name: str) -> tuple[Policy, tuple[Diagnostic, ...]]:
    """Give a shipped profile."""
    return lowered(profiles_folder() / f"{name}.sbx")


def of_text(folder: Path, text: str, profile: str | None = None) -> tuple[Policy, tuple[Diagnostic, ...]]:
    """Give the policy of a text, written to a folder of the test."""
    path = folder / "case.sbx"
    path.write_text("sbx 1\n" + text, encoding="utf-8")
    return lowered(path, profile)


def of_rules(folder: Path, rules: str, head: str = "") -> tuple[Policy, tuple[Diagnostic, ...]]:
    """Give the policy of a `syscalls` block's body; `head` stands above the profile."""
    return of_text(folder, f"{head}\nprofile case {{\n  syscalls {{\n{rules}\n  }}\n  files {{ root private }}\n}}\n")

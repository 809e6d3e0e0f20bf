"""Compile texts to policies, for tests."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.policy.policy import Policy
from sbc.policy.syscalls import AbiRules
from sbc.resolve.lower import lower
from sbc.resolve.modules import load

FILES = "files { root private; read /usr }"


def told(
    text: str, profile: str | None = None, files: Mapping[str, str] | None = None
) -> tuple[Policy | None, Reporter]:
    """Give the policy of a text, where there is one, and what was told on the way."""
    with tempfile.TemporaryDirectory() as folder:
        main = Path(folder, "main.sbx")
        main.write_text(text, encoding="utf-8")
        for name, content in (files or {}).items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(content, encoding="utf-8")
        reporter = Reporter()
        try:
            return lower(load(main, reporter), profile, reporter), reporter
        except Failed:
            return None, reporter


def policy(text: str, profile: str | None = None, files: Mapping[str, str] | None = None) -> Policy:
    """Give the policy of a text that has no errors."""
    found, reporter = told(text, profile, files)
    assert found is not None, [f"{one.code}: {one.title()}" for one in reporter.diagnostics]
    return found


def codes(text: str, profile: str | None = None, files: Mapping[str, str] | None = None) -> list[str]:
    """Give the codes of everything told about a text."""
    return [one.code for one in told(text, profile, files)[1].diagnostics]


def with_calls(rules: str, abi: str = "x86_64", head: str = "") -> str:
    """Give a profile whose `syscalls` block has some rules."""
    return (
        f"sbx 1\n{head}\nprofile p {{\n  {FILES}\n  syscalls {{\n    abi {abi}\n    default allow\n{rules}\n  }}\n}}\n"
    )


def with_files(statements: str, more: str = "") -> str:
    """Give a profile whose `files` block has some statements."""
    return f"sbx 1\nprofile p {{\n{more}\n  files {{\n{statements}\n  }}\n}}\n"


def with_blocks(blocks: str) -> str:
    """Give a profile with some blocks beside `files`."""
    return f"sbx 1\nprofile p {{\n  {FILES}\n{blocks}\n}}\n"


def rules_on(abi: str, rules: str, head: str = "") -> AbiRules:
    """Give what some rules mean on one ABI."""
    filters = policy(with_calls(rules, abi, head)).syscalls.filters
    return filters[0].abis[0]

"""Calls that every program needs, and the folder in which the command starts."""

from pathlib import Path

import pytest

from tests.analysis.lowered import of_rules, of_text

HEAD = "abi x86_64\nforeign-abi kill-process\ndefault allow\ninclude @stock-denylist\n"


def needed(folder: Path, rules: str) -> list[str]:
    _, diagnostics = of_rules(folder, f"{HEAD}{rules}", "use <stock>")
    return [one.title().split("`")[1] for one in diagnostics if one.code == "SBX520"]


@pytest.mark.parametrize(
    ("rules", "calls"),
    [
        ("deny EPERM execve", ["execve"]),
        ("deny EPERM execve when arg1 != 0", ["execve"]),
        ("deny EPERM execve when arg1 == 0", []),
        ("deny EPERM execve when arg1 != 0 or arg2 == 0", ["execve"]),
        ("deny EPERM execve when arg1 != 0 and arg2 != 0", ["execve"]),
        ("allow execve when arg1 != 0\ndeny EPERM execve", []),
        ("kill-process { exit_group mmap brk }", ["mmap", "exit_group", "brk"]),
        ("trap brk", ["brk"]),
        ("deny EPERM brk", []),
        ("deny ENOMEM mmap", ["mmap"]),
        ("kill-process mmap when prot has any PROT_EXEC", []),
        ("kill-process exit_group when error_code < 7\nkill-process exit_group when error_code >= 7", ["exit_group"]),
        ("kill-process exit_group when error_code < 7\nkill-process exit_group when error_code > 7", []),
    ],
)
def test_calls_that_every_program_needs(tmp_path: Path, rules: str, calls: list[str]) -> None:
    assert needed(tmp_path, rules) == calls


def test_what_an_allow_list_leaves_out_is_its_authors_business(tmp_path: Path) -> None:
    rules = "abi x86_64\nforeign-abi kill-process\ndefault kill-process\nallow { read write }"
    _, diagnostics = of_rules(tmp_path, rules, "")
    assert not [one for one in diagnostics if one.code == "SBX520"]


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        ("read /usr; start-in /nowhere", True),
        ("read /usr; start-in /usr/share", False),
        ("read /usr/share; start-in /usr", False),
        ("read /usr; start-in /", False),
        ("tmp /work; start-in /work/a", False),
        ("root host; start-in /nowhere", False),
        ("root host; hide /srv; start-in /srv/a", True),
        ("hide /srv; read /usr; start-in /srv", True),
        ("write ${p}; start-in /nowhere", False),
        ("write ${p} as /work; start-in /work", False),
        ("write ${p} as /work; start-in /w", True),
        ("write ${p} as /work; start-in ${p}", False),
        ("on macos { read /opt }; read /usr; start-in /opt", True),
        ("on macos { read /opt; start-in /opt }; read /usr", False),
    ],
)
def test_the_folder_to_start_in(tmp_path: Path, statements: str, told: bool) -> None:
    param = "param p : dir" if "${p}" in statements else ""
    _, diagnostics = of_text(tmp_path, f"profile p {{\n{param}\nfiles {{ {statements} }}\n}}\n")
    assert ("SBX521" in [one.code for one in diagnostics]) == told

"""Texts of a given size, each of one statement or word again and again."""

from collections.abc import Callable

START = "sbx 1\nprofile p {\nfiles { root private; read /usr }\n"
CALLS = f"{START}syscalls {{\nabi x86_64\ndefault allow\n"
EVERY_ABI = f"{START}syscalls {{\ndefault allow\n"
END = "}\n}\n"
REST = f"{START.removeprefix('sbx 1')}}}\n"

Case = tuple[str, Callable[[int], str], str]
"""What stands before, the n-th piece, what stands behind."""


def _line(head: str, piece: str, tail: str = END) -> Case:
    """A piece for each line, `#` in it replaced by its number."""
    return head, lambda at: piece.replace("#", str(at)) + "\n", tail


def _row(head: str, piece: str, tail: str) -> Case:
    """A piece after the other, `#` in it replaced by its number."""
    return head, lambda at: piece.replace("#", str(at)), tail


CASES: dict[str, Case] = {
    "variables": _line(f"{START}environment {{\n", 'set A# = "x"'),
    "one variable": _line(f"{START}environment {{\n", 'set A = "x"'),
    "kept": _line(f"{START}environment {{\nkeep {{\n", "K#", "}\n" + END),
    "kept one by one": _line(f"{START}environment {{\n", "keep K#"),
    "dropped again": _line(f"{START}environment {{\n", "drop K"),
    "variables of linux": _line(f"{START}environment {{\n", 'on linux { set A# = "x" }'),
    "unknown calls": _line(f"{EVERY_ABI}deny EPERM {{\n", "sokcet#", "}\n" + END),
    "unknown constants": _line(f"{CALLS}deny EPERM socket when family in {{\n", "AF_INTE#", "}\n" + END),
    "unknown errors": _line(EVERY_ABI, "deny EPRM# ptrace"),
    "unknown arguments": _line(EVERY_ABI, "deny EPERM socket when fam# == 1"),
    "unknown groups": _line(EVERY_ABI, "deny EPERM @gr#"),
    "unknown rules": _line(EVERY_ABI, "include @gr#"),
    "unknown parameters": _line(f"{START}environment {{\n", "set A# = ${q#}"),
    "unused parameters": _line(START, "param q# : dir", "}\n"),
    "stars": _row(f"{EVERY_ABI}deny EPERM {{\n", "* ", "}\n" + END),
    "star rules": _line(EVERY_ABI, "deny EPERM *"),
    "patterns of nothing": _row(f"{EVERY_ABI}deny EPERM {{\n", "*# ", "}\n" + END),
    "semicolons": _line("sbx 1\n", ";", REST),
    "one stock file": _line("sbx 1\n", "use <stock>", REST),
    "missing files": _line("sbx 1\n", 'use "x#.sbx"', REST),
    "unknown stock files": _line("sbx 1\n", "use <x#>", REST),
    "or": _row(f"{CALLS}deny EPERM read when fd==1", " or fd==2", "\n" + END),
    "or of different values": _row(f"{CALLS}deny EPERM read when fd==1", " or fd==#", "\n" + END),
    "and": _row(f"{CALLS}deny EPERM read when fd==1", " and fd!=#0", "\n" + END),
    "not": _row(f"{CALLS}deny EPERM read when ", "not ", "fd==1\n" + END),
    "bits": _row(f"{CALLS}deny EPERM openat when flags has any O_CREAT", "|O_TRUNC", "\n" + END),
    "one path": _line("sbx 1\nprofile p {\nfiles {\nroot private\n", "read /a"),
    "paths": _line("sbx 1\nprofile p {\nfiles {\nroot private\n", "read /a#"),
    "conflicts": _line("sbx 1\nprofile p {\nfiles {\nroot private\n", "read /a#\nwrite /a#"),
    "hidden": _line("sbx 1\nprofile p {\nfiles {\nroot private\nread /a\n", "hide /a/#"),
    "devices": _line("sbx 1\nprofile p {\nfiles {\nroot private; read /usr\n", "devices minimal"),
    "proc": _line(f"{START}proc {{\n", "hide k"),
    "limits": _line(f"{START}limits {{\n", "wall 1s"),
    "ids": _line(f"{START}identity {{\n", "user 1"),
    "operations": _row(f"{START}seatbelt {{\nallow", " file-reed#", "\n" + END),
    "filters": _line(f"{START}seatbelt {{\nallow mach-lookup {{\n", 'global-nam# "a"', "}\n" + END),
    "groups": _line("sbx 1\n", "group @g# { read }", REST),
    "one group": _line("sbx 1\n", "group @g { read }", REST),
    "chain of groups": ("sbx 1\ngroup @g0 { read }\n", lambda at: f"group @g{at + 1} {{ @g{at} }}\n", REST),
    "rules": _line("sbx 1\n", "rules @g# { deny EPERM read }", REST),
    "profiles": _line("sbx 1\n", "profile p# { files { root host } }", ""),
    "one profile": _line("sbx 1\n", "profile p { files { root host } }", ""),
    "includes": _line(f"sbx 1\nrules @r {{ deny EPERM ptrace }}\n{EVERY_ABI[6:]}", "include @r"),
    "one rule": _line(CALLS, "deny EPERM ptrace"),
    "rules for an ABI": _line(EVERY_ABI, "on x86_64 { deny EPERM ptrace }"),
    "values of one call": _line(CALLS, "deny EPERM read when fd == #"),
    "newer": _line(EVERY_ABI, "newer than linux 6.12 deny ENOSYS"),
    "absent": _line(CALLS.replace("x86_64", "aarch64"), "deny EPERM fork"),
}

WORDS = {
    "call": f"{EVERY_ABI}deny EPERM #\n{END}",
    "constant": f"{CALLS}deny EPERM socket when family == #\n{END}",
    "group": f"{EVERY_ABI}deny EPERM @#\n{END}",
    "parameter": f"{START}environment {{ set A = ${{#}} }}\n}}\n",
    "include": f"{EVERY_ABI}include @#\n{END}",
    "error": f"{EVERY_ABI}deny # ptrace\n{END}",
    "argument": f"{CALLS}deny EPERM ptrace when # == 1\n{END}",
    "operation": f"{START}seatbelt {{ allow # }}\n}}\n",
    "path": "sbx 1\nprofile p { files { root private; read /#; write /# } }\n",
    "block": "sbx 1\nprofile p { # { } }\n",
}
"""A text for each kind of word, `#` for the word."""


def filled(case: Case, size: int) -> str:
    """Give a text of a case that is about `size` long, and no longer."""
    head, piece, tail = case
    parts = [head]
    left = size - len(head) - len(tail)
    at = 0
    while (left := left - len(part := piece(at))) >= 0:
        parts.append(part)
        at += 1
    return "".join(parts) + tail

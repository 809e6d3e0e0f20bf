"""Read every system call definition of a Linux source tree.

A call is defined by one of the SYSCALL_DEFINEn family of macros, whose arguments come as pairs of type and name.
The macro cuts each register down to the C type, so the type is what the kernel reads.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from expect import expect

FOLDERS = ("kernel", "fs", "mm", "ipc", "net", "security", "block", "io_uring", "drivers/pci", "drivers/char", "arch")
ARCHITECTURES = ("x86", "arm64", "arm", "riscv", "s390", "powerpc", "loongarch", "mips")

MACRO = re.compile(r"^(COMPAT_SYSCALL|SYSCALL32|PPC32_SYSCALL|SYSCALL)_DEFINE([0-6])\s*\(", re.M)
CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*(.*)$", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
PAIRED = re.compile(r"\b(?:SC_ARG64|compat_arg_u64_dual|arg_u32p)\((\w+)\)")


class Parameter(NamedTuple):
    """One parameter of an entry point."""

    ctype: str
    name: str


class Definition(NamedTuple):
    """One entry point: where it is defined, under which preprocessor conditions, and its parameters."""

    name: str
    compat: bool
    path: str
    conditions: tuple[str, ...]
    parameters: tuple[Parameter, ...]


def definitions(tree: Path) -> Iterator[Definition]:
    """All definitions of `tree`, in the order of their paths."""
    for path in _sources(tree):
        text = path.read_text(errors="replace")
        if "SYSCALL" in text:
            yield from _definitions(COMMENT.sub(_blank, text), str(path.relative_to(tree)))


def _sources(tree: Path) -> list[Path]:
    found: list[Path] = []
    for folder in FOLDERS:
        for path in (tree / folder).rglob("*.c"):
            parts = path.relative_to(tree).parts
            if parts[0] != "arch" or parts[1] in ARCHITECTURES:
                found.append(path)
    return sorted(found)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group(0))


def _definitions(text: str, path: str) -> Iterator[Definition]:
    conditions = [(match.start(), match.group(1), match.group(2).strip()) for match in CONDITION.finditer(text)]
    for match in MACRO.finditer(text):
        inside = _balanced(text, match.end())
        inside = PAIRED.sub(r"u32, \1_lo, u32, \1_hi", inside)
        words = [" ".join(word.split()) for word in inside.split(",")]
        pairs = tuple(Parameter(ctype, name) for ctype, name in zip(words[1::2], words[2::2], strict=True))
        expect(len(pairs) == int(match.group(2)), path, words)
        yield Definition(words[0], match.group(1) != "SYSCALL", path, _conditions(conditions, match.start()), pairs)


def _balanced(text: str, start: int) -> str:
    depth, end = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return text[start : end - 1]


def _conditions(found: list[tuple[int, str, str]], before: int) -> tuple[str, ...]:
    stack: list[str] = []
    for position, word, rest in found:
        if position > before:
            break
        match word:
            case "if" | "ifdef" | "ifndef":
                stack.append(f"!{rest}" if word == "ifndef" else rest)
            case "elif":
                stack[-1] = rest
            case "else":
                stack[-1] = f"!({stack[-1]})"
            case _:
                stack.pop()
    return tuple(stack)

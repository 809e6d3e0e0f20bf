"""Reading raw `.bpf` files: bounded, checked by the kernel's rules, with one clear line for what is wrong."""

import os
import stat
from pathlib import Path
from typing import Literal

from sbc_runtime.instruction import JEQ, JMP, MAX_INSTRUCTIONS, SIZE, K, Program, unpack
from sbc_runtime.open_flags import READ

_ADVICE = "name a raw filter, such as the `.bpf` files of `sbc compile`"


class FilterError(ValueError):
    """A filter file, or a call about it, is wrong; the text says what."""


def read_filter(path: Path, byte_order: Literal["little", "big"]) -> Program:
    """Read and verify a filter; `FilterError` where the file cannot be read or the kernel would refuse it."""
    from sbc_runtime.verifier import Refused, verify

    program = read_program(path, byte_order)
    try:
        verify(program)
    except Refused as error:
        raise FilterError(f"{path}: the kernel would refuse this filter: {error}") from None
    return program


def read_program(path: Path, byte_order: Literal["little", "big"]) -> Program:
    """Read a filter without verifying it."""
    limit = MAX_INSTRUCTIONS * SIZE
    try:
        with os.fdopen(os.open(path, READ), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FilterError(f"{path}: not a regular file; {_ADVICE}")
            data = file.read(limit + 1)
    except OSError as error:
        raise FilterError(f"{path}: cannot be read: {error.strerror}; {_ADVICE}") from None
    if not data:
        raise FilterError(f"{path}: the file is empty; {_ADVICE}")
    if len(data) > limit:
        raise FilterError(f"{path}: more than {MAX_INSTRUCTIONS} instructions ({limit} bytes); {_ADVICE}")
    try:
        return unpack(data, byte_order)
    except ValueError as error:
        raise FilterError(f"{path}: {error}; {_ADVICE}") from None


def abi_in_name(path: Path) -> str | None:
    """Give the ABI that a file name tells (`agent-check.x86_64.bpf`), or None."""
    from sbc_runtime.arch import ARCHES

    parts = path.name.split(".")
    return parts[-2] if len(parts) > 2 and parts[-2] in ARCHES else None


def abi_in_program(path: Path) -> str:
    """Give the first ABI whose `arch` value a filter compares with, in that ABI's byte order; else `x86_64`."""
    from sbc_runtime.arch import ARCHES

    for arch in ARCHES.values():
        code = JMP | JEQ | K
        if any(i.code == code and i.k == arch.audit for i in read_program(path, arch.byte_order)):
            return arch.name
    return "x86_64"

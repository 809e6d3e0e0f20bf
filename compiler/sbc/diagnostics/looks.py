"""What a file is, by how it begins: for those who name one kind where another is meant."""

import os
import re
import stat
from typing import Literal

from sbc_runtime.open_flags import READ

Kind = Literal["bundle", "profile", "sbpl"]

_BEGINNINGS: tuple[tuple[Kind, re.Pattern[bytes]], ...] = (
    ("bundle", re.compile(rb'\{"address":"sha256:')),
    ("profile", re.compile(rb"(?:\s|#[^\n]*\n)*sbx\s+[0-9]")),
    ("sbpl", re.compile(rb"(?:\s|;[^\n]*\n)*\(version\s")),
)

_ENOUGH = 1 << 16
"""Bytes; what stands before is comments."""


def looks_like(data: bytes) -> Kind | None:
    """Tell what content begins as; None where it could be anything."""
    return next((kind for kind, beginning in _BEGINNINGS if beginning.match(data)), None)


def begins_as(path: str) -> Kind | None:
    """Tell what a file begins as; None also where it is no regular file, or cannot be read."""
    try:
        with os.fdopen(os.open(path, READ), "rb") as file:
            return looks_like(file.read(_ENOUGH)) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except (OSError, ValueError):
        return None

"""What a file is, by how it begins: for those who name one kind where another is meant."""

import re
from typing import Literal

Kind = Literal["bundle", "profile", "sbpl"]

_BEGINNINGS: tuple[tuple[Kind, re.Pattern[bytes]], ...] = (
    ("bundle", re.compile(rb'\{"address":"sha256:')),
    ("profile", re.compile(rb"(?:\s|#[^\n]*\n)*sbx\s+[0-9]")),
    ("sbpl", re.compile(rb"(?:\s|;[^\n]*\n)*\(version\s")),
)


def looks_like(data: bytes) -> Kind | None:
    """Tell what content begins as; None where it could be anything."""
    return next((kind for kind, beginning in _BEGINNINGS if beginning.match(data)), None)

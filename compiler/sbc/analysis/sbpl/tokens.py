"""Strings that are almost too long."""

from collections.abc import Iterator

from sbc.analysis.sbpl.subject import Subject
from sbc.diagnostics.catalogue.sbpl_filters import SbplLongToken
from sbc.diagnostics.span import Source
from sbc.seatbelt.reader import read
from sbc.seatbelt.values import Pair, Value

_CLOSE = 1000
"""Bytes. macOS's limit is known as "about 1,024": the reader refuses longer ones, and these are near it."""


def check(subject: Subject) -> Iterator[SbplLongToken]:
    """Report strings whose length is so near the limit that some macOS may refuse the profile.

    Reference: "Reader": a string token over about 1,024 bytes is refused.
    """
    for source in subject.loaded.sources:
        yield from _of(source)


def _of(source: Source) -> Iterator[SbplLongToken]:
    waiting: list[Value] = [read(source)]
    while waiting:
        here = waiting.pop()
        while isinstance(here, Pair):
            if isinstance(here.car, str) and here.at.end - here.at.start > _CLOSE // 4:
                size = len(here.at.text.encode("utf-8", "surrogateescape"))
                if size > _CLOSE:
                    yield SbplLongToken(here.at, size)
            waiting.append(here.car)
            here = here.cdr

"""Where something stands: a source text and a range of it."""

from bisect import bisect_right
from functools import cached_property

from sbc.record import Record


class Source(Record):
    """A text that was read, under the name that outputs give it.

    `name` is relative to the profile compiled, or `<groups>` and the like for the stock library; never absolute.
    """

    name: str
    text: str

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        while (end := self.text.find("\n", starts[-1])) >= 0:
            starts.append(end + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Give line and column, both from 1, of a character offset."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """Give the text of a line from 1, without its end; empty beyond the last."""
        if not 1 <= line <= len(self._starts):
            return ""
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return self.text[self._starts[line - 1] : end].rstrip("\r\n")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self.name == other.name and self.text == other.text

    def __hash__(self) -> int:
        return hash((self.name, len(self.text)))


class Span(Record):
    """A range of a source, in characters, `end` excluded."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line, from 1, on which the range starts."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """The column, from 1, at which the range starts."""
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        """The text of the range."""
        return self.source.text[self.start : self.end]

    def to(self, other: "Span") -> "Span":
        """Give the range from this one's start to the other's end."""
        return Span(self.source, self.start, other.end)

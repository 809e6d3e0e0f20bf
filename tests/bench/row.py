"""One line of the benchmark."""

from typing import NamedTuple


class Row(NamedTuple):
    """A figure, its bar, whether it is met (None: there is no bar), and the peers' figures."""

    what: str
    ours: str
    bar: str = ""
    met: bool | None = None
    peers: str = ""

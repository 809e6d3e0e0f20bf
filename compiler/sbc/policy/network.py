"""The `network` block."""

from typing import Literal

from sbc.policy.origin import Origin
from sbc.policy.values import PathValue
from sbc.record import Record


class LocalPort(Record):
    """`connect localhost:PORT` or `bind localhost:PORT`; `port` None means every port (`localhost:*`)."""

    verb: Literal["connect", "bind"]
    port: int | None
    origin: Origin


class UnixSocket(Record):
    """`unix PATH`: the socket at that path (of the host) may be connected to."""

    path: PathValue
    origin: Origin


class Network(Record):
    """`none`: nothing leaves the sandbox; `host`: the host's network.

    With a list, only what it names is allowed besides.
    """

    mode: Literal["none", "host"]
    allowances: tuple[LocalPort | UnixSocket, ...]
    origin: Origin
    listed: bool = False

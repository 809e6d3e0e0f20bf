"""Addresses: what `remote` and `local` compare, and what a question may be about.

A filter's host is `*` or `localhost` and nothing else. `localhost` is 127.0.0.1 and ::1, and not ::ffff:127.0.0.1
[observed].
"""

import re
from ipaddress import IPv4Address, ip_address
from typing import Literal, NamedTuple

from sbc.seatbelt.verdict import Unknown, Verdict, all_of

Side = Literal["remote", "local"]

_PATTERN = re.compile(r"(\*|localhost):(\*|[0-9]{1,5})\Z")
_LOOPBACK = ("127.0.0.1", "::1")


class Address(NamedTuple):
    """An address as a filter names it; a port of None is any."""

    loopback: bool
    port: int | None


class Endpoint(NamedTuple):
    """An address as a question names it. `family` and `host` are None where they are not said."""

    side: Side
    protocol: str
    """`tcp`, `udp`, or `ip` where it is not said."""
    family: int | None
    host: str | None
    port: int


def address(text: str) -> Address:
    """Read a filter's address; `ValueError` says why it is none."""
    found = _PATTERN.match(text)
    if not found:
        raise ValueError(f"takes `*` or `localhost` as host, and a port or `*`: `localhost:443`, not `{text[:60]}`")
    port = None if found[2] == "*" else int(found[2])
    if port is not None and port > 65535:
        raise ValueError("takes a port up to 65535")
    return Address(found[1] == "localhost", port)


def endpoint(side: Side, protocol: str, text: str) -> Endpoint:
    """Read a question's address (`1.1.1.1:443`, `[::1]:80`, `localhost:80`); `ValueError` says why it is none."""
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise ValueError(f"`{text}` is no address with a port, such as `1.1.1.1:443` or `[::1]:80`")
    base, digit = (protocol[:-1], int(protocol[-1])) if protocol[-1] in "46" else (protocol, None)
    if host == "localhost":
        return Endpoint(side, base, digit, "localhost", int(port))
    if host == "*" and side == "local":
        return Endpoint(side, base, digit, "0.0.0.0" if digit == 4 else "::", int(port))  # noqa: S104 (only compared)
    try:
        found = ip_address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
    except ValueError:
        raise ValueError(f"`{host}` is no address: the kernel knows no names") from None
    family = 4 if isinstance(found, IPv4Address) else 6
    if digit not in (None, family):
        raise ValueError(f"`{host}` is no address of `{protocol}`")
    return Endpoint(side, base, family, str(found), int(port))


def protocol_matches(protocol: str, point: Endpoint) -> Verdict:
    """Compare a filter's protocol (`ip`, `tcp4`, ...) with an address."""
    base, digit = (protocol[:-1], int(protocol[-1])) if protocol[-1] in "46" else (protocol, None)
    same: Verdict = base in ("ip", point.protocol)
    if same is False and point.protocol == "ip":
        same = Unknown("the protocol: write `tcp` or `udp`")
    family: Verdict = digit in (None, point.family)
    if family is False and point.family is None:
        family = Unknown("the address family: write `127.0.0.1` or `[::1]`")
    return all_of((same, family))


def address_matches(one: Address, point: Endpoint) -> bool:
    """Compare a filter's address with another one."""
    near = not one.loopback or point.host == "localhost" or point.host in _LOOPBACK
    return near and one.port in (None, point.port)

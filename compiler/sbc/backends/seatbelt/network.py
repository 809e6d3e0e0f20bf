"""The `network` block."""

from collections.abc import Iterator

from sbc.backends.seatbelt.families import NETWORK
from sbc.backends.seatbelt.paths import literal
from sbc.backends.seatbelt.rules import Ledger, SbRule
from sbc.backends.seatbelt.sexpr import Text, Word, form
from sbc.macos.services import NETWORK_SERVICES
from sbc.policy.network import LocalPort, Network, UnixSocket
from sbc.policy.values import PathValue

_ANY = form("remote", Word("ip"), Text("*:*"))
EVERYTHING = (_ANY, form("require-not", _ANY))
"""Filters of which one always matches: a rule with them is no fall-through, no filtered rule before it can undo it."""

RESOLVER = PathValue(None, "/private/var/run/mDNSResponder")
"""The socket through which names are looked up."""


def open_to_all(network: Network) -> bool:
    """Tell whether the network is the host's without a list: then sockets by path go by the `files` block."""
    return network.mode == "host" and not network.listed


def services() -> SbRule:
    """Give what a program with a network asks for besides; it stands with the base, below the `seatbelt` block."""
    return SbRule("allow", ("mach-lookup",), tuple(form("global-name", Text(name)) for name in NETWORK_SERVICES))


def rules(
    network: Network, allowances: tuple[LocalPort | UnixSocket, ...], default_deny: bool, ledger: Ledger
) -> Iterator[SbRule]:
    """Give the rules; `allowances` are the list's, with their paths resolved."""
    note = _note(network.origin.where(), network.origin.text)
    if open_to_all(network):
        yield SbRule("allow", NETWORK, note=note)
        yield SbRule("allow", ("network-outbound",), (literal(RESOLVER),))
    else:
        yield SbRule("deny", NETWORK, note=note)
        if ledger.user_allows(NETWORK):
            yield SbRule("deny", NETWORK, EVERYTHING)
    if default_deny and (open_to_all(network) or allowances):
        yield SbRule("allow", ("system-socket",))
    for allowance in allowances:
        yield _allowed(allowance)


def _allowed(allowance: LocalPort | UnixSocket) -> SbRule:
    note = _note(allowance.origin.where(), allowance.origin.text)
    if isinstance(allowance, UnixSocket):
        return SbRule("allow", ("network-outbound",), (literal(allowance.path),), None, note)
    address = Text(f"localhost:{'*' if allowance.port is None else allowance.port}")
    if allowance.verb == "connect":
        # A `local` filter would match every connection: a socket that is not bound has no local address.
        return SbRule("allow", ("network-outbound",), (form("remote", Word("ip"), address),), None, note)
    # To listen is network-inbound.
    return SbRule("allow", ("network-bind", "network-inbound"), (form("local", Word("ip"), address),), None, note)


def _note(where: str, text: str) -> str:
    return f"{where}: {text}"

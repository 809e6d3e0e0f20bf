"""Explains what a policy says of a connection: to a port, to a host, to a Unix socket."""

from typing import Literal, get_args

from sbc.analysis.explain.access import explain_path, read_path
from sbc.analysis.explain.answer import AccessAnswer
from sbc.analysis.explain.question import QuestionError
from sbc.policy.network import LocalPort, Network, UnixSocket
from sbc.policy.origin import System
from sbc.policy.policy import Policy

NetworkVerb = Literal["connect", "bind", "unix"]
NETWORK_VERBS: tuple[str, ...] = get_args(NetworkVerb)

LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]")


def explain_connection(policy: Policy, verb: NetworkVerb, target: str, system: System = "linux") -> AccessAnswer:
    """Answer whether a connection may be made, or a port be bound.

    With a list, only what it names is open. Unix sockets follow the list and not `files`; where the whole network of
    the host is open, a socket can be reached that can be seen.
    """
    allowances = [one for one in policy.network.allowances if one.origin.on in (None, system)]
    question = f"{verb} {target}"
    if verb == "unix" or target.startswith(("/", "~", "$")):
        path = read_path(target, policy)
        for allowance in allowances:
            if isinstance(allowance, UnixSocket) and allowance.path == path:
                return AccessAnswer(question, True, allowance.origin, "the list names this socket")
        if policy.network.mode == "host" and not policy.network.listed:
            seen = explain_path(policy, "read", target, system)
            why = "a socket that can be seen can be reached" if seen.allowed else seen.why
            return AccessAnswer(question, seen.allowed, seen.origin, why, seen.unless)
        return _unnamed(policy.network, question)
    host, port = _host_and_port(target)
    if host in LOCAL:
        for allowance in allowances:
            if isinstance(allowance, LocalPort) and allowance.verb == verb and allowance.port in (None, port):
                return AccessAnswer(question, True, allowance.origin, "the list names this port")
    return _unnamed(policy.network, question)


def _unnamed(network: Network, question: str) -> AccessAnswer:
    """Answer for what no allowance names."""
    if network.listed:
        return AccessAnswer(question, False, network.origin, "the list does not name it")
    if network.mode == "none":
        return AccessAnswer(question, False, network.origin, "nothing leaves the sandbox")
    return AccessAnswer(question, True, network.origin, "the sandbox has the host's network")


def _host_and_port(target: str) -> tuple[str, int]:
    host, colon, port = target.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535:
        raise QuestionError(
            f"`{target}` is not a place to connect to", "write `localhost:80`, `example.org:443` or a socket's path"
        )
    return host, int(port)

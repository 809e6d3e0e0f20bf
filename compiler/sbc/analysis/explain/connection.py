"""Explains what a policy says of a connection: to a port, to a host, to a Unix socket."""

from typing import Literal, get_args

from sbc.analysis.explain.access import read_path
from sbc.analysis.explain.answer import AccessAnswer
from sbc.analysis.explain.question import QuestionError
from sbc.policy.network import LocalPort, UnixSocket
from sbc.policy.origin import System
from sbc.policy.policy import Policy

NetworkVerb = Literal["connect", "bind"]
NETWORK_VERBS: tuple[str, ...] = get_args(NetworkVerb)

LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]")


def explain_connection(policy: Policy, verb: NetworkVerb, target: str, system: System = "linux") -> AccessAnswer:
    """Answer whether a connection may be made, or a port be bound.

    With a list, what is on the machine (localhost, Unix sockets) is open only where the list names it; `host` opens
    what lies beyond the machine besides.
    """
    network = policy.network
    allowances = [allowance for allowance in network.allowances if allowance.origin.on in (None, system)]
    question = f"{verb} {target}"
    if target.startswith(("/", "~", "$")):
        path = read_path(target, policy)
        for allowance in allowances:
            if isinstance(allowance, UnixSocket) and allowance.path == path:
                return AccessAnswer(question, True, allowance.origin, "the list names this socket")
        return _unnamed(policy, question)
    host, port = _host_and_port(target)
    if host in LOCAL:
        for allowance in allowances:
            if isinstance(allowance, LocalPort) and allowance.verb == verb and allowance.port in (None, port):
                return AccessAnswer(question, True, allowance.origin, "the list names this port")
        return _unnamed(policy, question)
    if network.mode == "none":
        return AccessAnswer(question, False, network.origin, "nothing leaves the sandbox")
    return AccessAnswer(question, True, network.origin, "the sandbox has the host's network")


def _unnamed(policy: Policy, question: str) -> AccessAnswer:
    """Answer for something on the machine that no allowance names."""
    network = policy.network
    if network.mode == "none":
        why = "the list does not name it" if network.listed else "nothing of the host's network is there"
        return AccessAnswer(question, False, network.origin, why)
    if network.listed:
        return AccessAnswer(question, False, network.origin, "on the machine itself only the list is open")
    return AccessAnswer(question, True, network.origin, "the sandbox has the host's network")


def _host_and_port(target: str) -> tuple[str, int]:
    host, colon, port = target.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535:
        raise QuestionError(
            f"`{target}` is not a place to connect to", "write `localhost:80`, `example.org:443` or a socket's path"
        )
    return host, int(port)

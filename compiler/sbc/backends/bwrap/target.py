"""The target `bwrap`: `NAME.bwrap`, the plan for bubblewrap. Its words are in the package's docstring."""

from collections.abc import Iterator

from sbc.backends.bwrap import start
from sbc.backends.bwrap.mounts import losses, mounts
from sbc.backends.bwrap.step import Mount, hidden, on_linux
from sbc.backends.bwrap.words import NAME, argument, literal, number
from sbc.backends.target import Artifact, Loss, OutputFile, Unsayable
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.network import LocalPort, Network
from sbc.policy.origin import Block, Origin
from sbc.policy.policy import Policy
from sbc.policy.process import IdRange
from sbc.policy.values import ParamValue, PathValue
from sbc_runtime.action import Action

NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup")
"""Never the `-try` forms: a namespace that is not there is an error, not a weaker sandbox."""

PROCESS = ("--die-with-parent", "--new-session", "--cap-drop", "ALL")

_NO_NUMBERS = frozenset({"self", "thread-self"})


class BwrapTarget:
    """Emits `NAME.bwrap`."""

    name = NAME
    blocks: frozenset[Block] = frozenset(("files", "proc", "network", "identity"))

    def emit(self, policy: Policy) -> Artifact:
        """Emit the plan; `Unsayable` for a network list, `Failed` where the filter stops bubblewrap itself."""
        stopped = tuple(start.check(policy))
        if stopped:
            raise Failed(stopped)
        arguments = tuple(_arguments(policy))
        content = b"".join(one.encode("utf-8", "surrogateescape") + b"\0" for one in arguments)
        return Artifact((OutputFile(f"{policy.name}.bwrap", content),), tuple(_losses(policy)))


def _arguments(policy: Policy) -> Iterator[str]:
    _check_network(policy.network)
    yield from NAMESPACES
    if policy.network.mode == "none":
        yield "--unshare-net"
    yield from PROCESS
    yield from _identity(policy)
    steps = tuple(sorted((*mounts(policy.files, policy.network), *_proc(policy)), key=lambda mount: mount.order))
    for mount in steps:
        yield from mount.arguments
    # Only now are all mount points made; the deepest first, the root at the very end.
    for mount in reversed(steps):
        yield from mount.last
    yield from ("--chdir", _start_in(policy))
    if policy.syscalls.filters:
        yield from ("--seccomp", "${:seccomp}")


def _check_network(network: Network) -> None:
    """Refuse a list: bubblewrap gives the whole of the host's network, or none of it."""
    if network.mode == "host" and network.listed:
        raise Unsayable(NAME, network.origin, "bubblewrap gives the host's network as a whole, or not at all")
    for one in network.allowances:
        if isinstance(one, LocalPort) and one.origin.on != "macos" and network.mode == "none":
            raise Unsayable(NAME, one.origin, "a sandbox without the host's network does not reach its ports")


def _identity(policy: Policy) -> Iterator[str]:
    """Give the ids and the name inside; ids of the host are the runtime's, which alone may change them.

    What is not stated depends on who calls, so it is left open: bubblewrap by itself would take the caller's ids, also
    where that is root, and the host's name.
    """
    option = {"user": "--uid", "group": "--gid", "hostname": "--hostname"}
    stated = {one.key: one for one in on_linux(policy.identity)}
    for key, word in option.items():
        if key not in stated:
            yield from (word, f"${{:{key}}}")
            continue
        one = stated[key]
        match one.value:
            case int() | ParamValue() as value:
                yield from (word, number(value))
            case str() as text:
                yield from (word, literal(text))
            case IdRange():
                raise Unsayable(NAME, one.origin, "only an id of the host can be a range")


def _proc(policy: Policy) -> Iterator[Mount]:
    """Protect entries of /proc, where the kernel has them. Entries of processes are the sandbox's own already."""
    for rule in policy.proc:
        if rule.origin.on == "macos":
            continue
        first = rule.entry.split("/")[0]
        if first.isdigit() or first in _NO_NUMBERS:
            raise Unsayable(NAME, rule.origin, "bubblewrap would show the host's process")
        place = PathValue(None, f"/proc/{rule.entry}")
        if rule.access == "hide":
            yield hidden(place, place, optional=True, rank=0)
        else:
            yield Mount(place, ("--ro-bind-try", argument(place), argument(place)), rank=0)


def _start_in(policy: Policy) -> str:
    for one in reversed(on_linux(policy.files.start_in)):
        if one.path is not None:
            return argument(one.path)
    return "${:start-in}"


def _losses(policy: Policy) -> Iterator[Loss]:
    yield from losses(policy.files, policy.network)
    asked: dict[Origin, None] = {}
    for one in policy.syscalls.filters:
        for abi in one.abis:
            decided = [(rule.verdict, rule.origin) for rule in abi.rules]
            newer = [] if abi.newer is None else [(abi.newer.verdict, abi.newer.origin)]
            for verdict, origin in (*decided, *newer, (abi.default, abi.default_origin)):
                if verdict.action in (Action.TRACE, Action.NOTIFY):
                    asked[origin] = None
    for origin in asked:
        yield Loss(NAME, "narrower", origin, "bubblewrap has no supervisor to answer, so the call fails with ENOSYS")

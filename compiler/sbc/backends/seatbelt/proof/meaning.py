"""What a policy decides on macOS, read from the policy alone: the contract's sentences, one after another."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from sbc.backends.seatbelt.proof.places import Here, Places, filled, folded
from sbc.backends.seatbelt.proof.raw import Action, NotKnown, Said
from sbc.backends.seatbelt.proof.words import (
    DEVICE,
    EXEC,
    FILES,
    INSIDES,
    LOOK,
    OTHERS,
    PAGES,
    READ,
    SHARED,
    STREAMS,
    TASKS,
    TERMINALS,
    UNLINK,
    WRITE,
)
from sbc.policy.filesystem import Devices
from sbc.policy.network import LocalPort
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy

PTY: Final = "com.apple.sandbox.pty"
"""The mark of a terminal that the command made itself."""

RESOLVER: Final = "/private/var/run/mDNSResponder"
"""The socket through which names are looked up: part of a network without a list."""

_PROCESSES = Origin("process", "nothing outside is signalled or looked at")
_TERMINAL = re.compile(r"/dev/ttys[0-9]+")
_LOOPBACK = ("127.0.0.1", "[::1]")


class Decided(NamedTuple):
    """What the policy decides, and what in it says so.

    `told`: the statement whose loss, where it was told, makes an allow right as well.
    """

    action: Action
    origin: Origin
    told: Origin | None = None


def composed(derived: Decided | None, said: Said | NotKnown | None, otherwise: Decided) -> Decided | None:
    """Put together what the other blocks decide and what the `seatbelt` block says; None: open on macOS.

    No rule of the block undoes a derived deny; its denies narrow what is allowed. One without a filter yields to
    filtered allows, and that it does is told as a loss. What the others do not decide is the block's, then the base's.
    """
    if derived is not None and derived.action == "deny":
        return derived
    if isinstance(said, NotKnown):
        return None
    if derived is None:
        return otherwise if said is None else Decided(said.action, said.origin)
    if said is None or said.action == "allow":
        return derived
    return Decided("deny", said.origin, said.origin if said.bare else None)


class Meaning:
    """The policy, with parameters filled in."""

    def __init__(self, policy: Policy, values: Mapping[str, str]) -> None:
        self.policy = policy
        network = policy.network
        listed = [one for one in network.allowances if one.origin.on != "linux"]
        self.ports = [one for one in listed if isinstance(one, LocalPort)]
        self.sockets = {filled(one.path, values): one.origin for one in listed if not isinstance(one, LocalPort)}
        self._sockets = {folded(path): origin for path, origin in self.sockets.items()}
        self.places = Places(policy, values, self.sockets)
        self.open = network.mode == "host" and not network.listed
        self.devices, self._devices = _devices(policy)

    def kind(self, here: Here) -> tuple[object, ...]:
        """Give what tells apart paths of which the `files` block does not say the same."""
        path = folded(here.path)
        own = path if path in {"/", "/dev"} or path.startswith("/dev/") else ""
        return (here.access, here.noexec, here.depth if own else here.hidden_root, here.looked, here.guarded, own)

    def file(self, operation: str, here: Here, *, base: bool, marked: bool = False) -> Decided | None:
        """Decide an operation on a path; `base`: the shipped base allows it; None: the `files` block says nothing."""
        decided = self._device(operation, here, marked=marked)
        if decided is None and operation in FILES:
            decided = self._stated(operation, here, base=base)
        if decided is None:
            return None
        if decided.action == "deny" and operation in LOOK and here.looked:
            return Decided("allow", here.origin)
        if decided.action == "allow" and operation == UNLINK and here.guarded:
            return Decided("deny", here.origin)
        return decided

    def _stated(self, operation: str, here: Here, *, base: bool) -> Decided:
        allowed = here.access == "write"
        if operation in EXEC:
            allowed = here.access != "hide" and not here.noexec
        elif operation not in WRITE:
            allowed = here.access != "hide"
        if here.hidden_root and base:
            allowed = True
        return Decided("allow" if allowed else "deny", here.origin)

    def _device(self, operation: str, here: Here, *, marked: bool) -> Decided | None:
        """Decide by the `devices` statement, where no other statement is as deep."""
        name = folded(here.path)
        if name != "/dev" and not name.startswith("/dev/"):
            return None
        found: Action | None = None
        depth = here.depth
        if operation == "file-ioctl":
            # To read and to write say nothing of it; what is hidden is not controlled either.
            depth = self.places.hidden(here.path)
            found = "deny" if depth > (0, 0, 0) else None
        if depth < (0, 1, 0):
            if self.devices == "host":
                found = "deny" if operation in WRITE | EXEC else None
                found = "allow" if operation in DEVICE or operation == "file-search" else found
            elif operation in FILES or operation == "file-ioctl":
                listed = name == "/dev" and operation in (READ | LOOK) - {"file-search"}
                found = "allow" if listed else "deny"
        if name != "/dev" and depth < (0, 2, 0):
            found = self._one_device(operation, name, marked=marked) or found
        return Decided(found, self._devices) if found else None

    def _one_device(self, operation: str, name: str, *, marked: bool) -> Action | None:
        file = name.removeprefix("/dev/")
        if self.devices in ("minimal", "standard"):
            if file in STREAMS and operation in DEVICE:
                return "allow"
            if file.split("/")[0] == "fd" and operation in DEVICE - {"file-ioctl"}:
                return "allow"
        if self.devices in ("standard", "host"):
            if file in TERMINALS and operation in DEVICE:
                return "allow"
            if _TERMINAL.fullmatch(name):
                # One that was there before cannot be opened; to control one that was inherited gives no new right.
                if operation == "file-ioctl" or (marked and operation in DEVICE):
                    return "allow"
                if operation in READ | LOOK | WRITE:
                    return "deny"
        return None

    def socket(self, operation: str, here: Here) -> Decided:
        """Decide about a socket with a path: by the network's list, and by the path's access where there is none."""
        if not self.open:
            origin = self._sockets.get(folded(here.path))
            if origin is not None and operation == "network-outbound":
                return Decided("allow", origin)
            return Decided("deny", self.policy.network.origin)
        allowed = operation == "network-inbound"
        if operation == "network-outbound":
            allowed = here.access != "hide" or folded(here.path) == folded(RESOLVER)
        elif operation == "network-bind":
            allowed = here.access == "write"
        return Decided("allow" if allowed else "deny", here.origin)

    def internet(self, operation: str, host: str, port: int) -> Decided:
        """Decide about an address: the peer's on network-outbound, else the command's own."""
        if self.open:
            return Decided("allow", self.policy.network.origin)
        verb = "connect" if operation == "network-outbound" else "bind"
        for one in self.ports:
            if one.verb == verb and host in _LOOPBACK and one.port in (None, port):
                return Decided("allow", one.origin)
        return Decided("deny", self.policy.network.origin)

    def process(self, operation: str, target: str) -> Decided | None:
        """Decide about another process; None: nothing is derived."""
        outside = target == "others"
        if operation in OTHERS:
            return Decided("deny" if outside else "allow", _PROCESSES)
        if operation in INSIDES or (operation in TASKS and outside):
            return Decided("deny", _PROCESSES)
        return None

    def rest(self, operation: str, name: str | None) -> Decided | None:
        """Decide about anything else; None: nothing is derived."""
        if operation in SHARED:
            page = name is not None and (name == PAGES[0] or name.startswith(PAGES[1]))
            allowed = page and operation == "ipc-posix-shm-read-data"
            return Decided("allow" if allowed else "deny", self._devices)
        if operation == "pseudo-tty" and self.devices in ("standard", "host"):
            return Decided("allow", self._devices)
        closed = self.policy.seatbelt.default.action == "deny"
        if operation == "system-socket" and closed and (self.open or self.ports or self.sockets):
            return Decided("allow", self.policy.network.origin)
        return None


def _devices(policy: Policy) -> tuple[Devices, Origin]:
    kinds = [one for one in policy.files.devices if one.origin.on != "linux"]
    said = next((one for one in kinds if one.origin.on == "macos"), kinds[-1] if kinds else None)
    return (said.kind, said.origin) if said else ("minimal", Origin("files", "no `devices` statement"))

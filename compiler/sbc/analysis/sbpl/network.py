"""What rules on the network, and rules on files for sockets, do not do."""

import re
from collections.abc import Iterator

from sbc.analysis.sbpl.samples import remote
from sbc.analysis.sbpl.subject import Subject, within
from sbc.diagnostics.catalogue.sbpl_filters import SbplFileDenyOfSocket, SbplLocalOutbound
from sbc.seatbelt.addresses import Address
from sbc.seatbelt.filters import Network
from sbc.seatbelt.rules import Rule

_SOCKET = re.compile(r"(\.|-|_|/)sock(et)?\Z|/(mDNSResponder|usbmuxd|Listeners|SingletonSocket)\Z")
"""How paths of sockets end."""

_ON_FILES = frozenset({"file*", "file-read*", "file-read-data", "file-write*", "file-write-data"})


def local_outbound(subject: Subject) -> Iterator[SbplLocalOutbound]:
    """Report `local` filters that seem to narrow what may be connected to, and match every connection.

    Reference: "Network": a `local` filter on network-outbound admits everything. `*:*` narrows nothing, nor says so.
    """
    for rule in subject.rules:
        narrow = [
            one
            for one in within(rule.filters)
            if isinstance(one, Network) and one.side == "local" and any(map(_narrow, one.addresses))
        ]
        if not narrow or not {"network-outbound", "network*"}.intersection(rule.operations):
            continue
        answer = subject.ask("network-outbound", remote())
        if answer and answer.rule is rule:
            yield SbplLocalOutbound(narrow[0].at, rule.action, rule.at)


def _narrow(address: Address) -> bool:
    return address.loopback or address.port is not None


def denied_sockets(subject: Subject) -> Iterator[SbplFileDenyOfSocket]:
    """Report denies on a socket's file where connecting to it is allowed.

    Reference: "Network": connecting is network-outbound by path; denies on files do not stop it.
    """
    for rule in subject.rules:
        if rule.action == "deny" and rule.filters and _ON_FILES.intersection(rule.operations):
            found = _open(subject, rule)
            if found:
                yield SbplFileDenyOfSocket(rule.at, found)


def _open(subject: Subject, rule: Rule) -> str | None:
    writes = not {"file*", "file-read*", "file-read-data"}.intersection(rule.operations)
    for sample in subject.samples(rule):
        if len(sample.facts) == 1 and sample.facts[0][0] == "path" and _SOCKET.search(sample.text):
            access = subject.ask("file-write-data" if writes else "file-read-data", sample)
            connect = subject.ask("network-outbound", sample)
            if access and access.rule is rule and connect and connect.decision == "allow":
                return sample.text
    return None

"""Filters, and filters of filters: whether each matches a question."""

from collections.abc import Sequence

from sbc.diagnostics.span import Span
from sbc.seatbelt.addresses import Address, Side, address_matches, protocol_matches
from sbc.seatbelt.patterns import Pattern
from sbc.seatbelt.question import Question
from sbc.seatbelt.values import Name
from sbc.seatbelt.verdict import Meter, Unknown, Verdict, all_of, any_of, opposite

_HELD = frozenset({"extension", "extension-path-ancestor", "storage-class-extension", "user-intent-extension"})
"""What a process holds only where somebody issued it: none, unless the question says so."""


class Filter:
    """A filter; `size` counts what it consists of, `depth` how many are within each other."""

    size: int = 1
    depth: int = 1
    name: str
    at: Span

    def verdict(self, question: Question, meter: Meter) -> Verdict:
        """Tell whether it matches."""
        raise NotImplementedError


class Comparison(Filter):
    """Compares one fact with patterns; one match is enough."""

    def __init__(
        self, name: str, fact: str, patterns: Sequence[Pattern], at: Span, places: Sequence[Span] = ()
    ) -> None:
        self.name = name
        self.fact = fact
        self.patterns = tuple(patterns)
        self.at = at
        self.size = len(self.patterns)
        self._places = places

    def place(self, index: int) -> Span:
        """Give where a pattern stands, or the filter where that is not known."""
        return self._places[index] if index < len(self._places) else self.at

    def verdict(self, question: Question, meter: Meter) -> Verdict:
        """Compare the fact; where the question does not say it, it depends."""
        meter.take(1 + len(self.patterns))
        value = question.facts.get(self.fact)
        if value is None:
            return self._missing(question, meter)
        return any_of(pattern.verdict(value, meter) for pattern in self.patterns)

    def _missing(self, question: Question, meter: Meter) -> Verdict:
        if self.fact in _HELD:
            return False
        if self.fact == "path" and question.endpoint is not None:
            return False  # an internet socket has no path
        if self.fact in ("local-name", "xpc-service-name") and not question.kind_stated:
            named = question.facts.get("global-name")
            if named is not None:
                found = any_of(pattern.verdict(named, meter) for pattern in self.patterns)
                return Unknown(f"the kind of the service: write `{self.fact} ...`") if found is not False else False
        if self.fact in ("global-name", "local-name", "xpc-service-name") and question.kind_stated:
            return False
        return Unknown(f"`{self.fact}`, which the question does not say", self.fact)


class Relation(Filter):
    """`target`: how the other process stands to the one that asks."""

    # Pairs of how it stands, and what the filter says. What is not here is not known. A child is in the sandbox of its
    # parent [derived: the sandbox is inherited; not so after `no-sandbox`]. `others` are neither self nor in the same
    # sandbox: so the word is used where verdicts are reported.
    _YES = frozenset({("self", "pgrp"), ("self", "same-sandbox"), ("children", "same-sandbox")})
    _NO = frozenset(
        {
            *(("self", other) for other in ("others", "children", "initproc")),
            *(("others", other) for other in ("self", "pgrp", "children", "same-sandbox")),
            *((one, "self") for one in ("pgrp", "children", "same-sandbox", "initproc")),
            *((one, "initproc") for one in ("pgrp", "children", "same-sandbox")),
            *(("initproc", other) for other in ("pgrp", "children", "same-sandbox")),
        }
    )

    def __init__(self, words: tuple[str, ...], at: Span) -> None:
        self.name = "target"
        self.words = words
        self.at = at
        self.size = len(words)

    def verdict(self, question: Question, meter: Meter) -> Verdict:
        """Compare the relation."""
        meter.take(self.size)
        value = question.facts.get("target")
        if not isinstance(value, Name):
            return Unknown("the target, which the question does not say", "target")
        return any_of(self._one(value.name, word) for word in self.words)

    def _one(self, stands: str, word: str) -> Verdict:
        if stands == word or (stands, word) in self._YES:
            return True
        if (stands, word) in self._NO:
            return False
        return Unknown(f"whether a process that is `{stands}` is also `{word}`")


class Network(Filter):
    """`remote` or `local` with a protocol of the internet, and addresses; none of them is any."""

    def __init__(self, side: Side, protocol: str, addresses: tuple[Address, ...], at: Span) -> None:
        self.name = side
        self.side: Side = side
        self.protocol = protocol
        self.addresses = addresses
        self.at = at
        self.size = 1 + len(addresses)

    def verdict(self, question: Question, meter: Meter) -> Verdict:
        """Compare the address on the filter's side."""
        meter.take(self.size)
        point = question.endpoint
        if point is None:
            return False if question.unix else Unknown("the address, which the question does not say")
        if point.side == self.side:
            here = not self.addresses or any(address_matches(one, point) for one in self.addresses)
            return all_of((protocol_matches(self.protocol, point), here))
        if self.side == "local" and question.operation == "network-outbound":
            # Read: a source that is not bound is 0.0.0.0, and a `local` filter admits every connection.
            return protocol_matches(self.protocol, point)
        if self.side == "remote" and question.operation in ("network-bind", "network-inbound"):
            return False  # derived: bind() and listen() have no peer
        unsaid = Unknown(f"the {self.side} address, which the question does not say")
        return all_of((protocol_matches(self.protocol, point), unsaid))


class UnixSocket(Filter):
    """`remote unix-socket` or `local unix-socket`, the old way to write a path."""

    def __init__(self, side: Side, inner: tuple[Filter, ...], at: Span) -> None:
        self.name = side
        self.side: Side = side
        self.inner = inner
        self.at = at
        self.size = 1 + sum(one.size for one in inner)
        self.depth = 1 + max((one.depth for one in inner), default=0)

    def verdict(self, question: Question, meter: Meter) -> Verdict:
        """Compare the socket's path; without filters any socket of that family matches."""
        meter.take(1)
        if not question.unix:
            return False if question.endpoint else Unknown("the socket's family, which the question does not say")
        path = any_of(one.verdict(question, meter) for one in self.inner) if self.inner else True
        wrong_side = "network-bind" if self.side == "remote" else "network-outbound"
        if path is not False and question.operation == wrong_side:
            return Unknown(f"whether `{self.side} unix-socket` matches on `{wrong_side}`, which is not known")
        return path


class Combined(Filter):
    """`require-all`, `require-any` and `require-not`."""

    def __init__(self, name: str, parts: tuple[Filter, ...], at: Span) -> None:
        self.name = name
        self.parts = parts
        self.at = at
        self.size = 1 + sum(part.size for part in parts)
        self.depth = 1 + max(part.depth for part in parts)

    def verdict(self, question: Question, meter: Meter) -> Verdict:
        """Combine the parts' verdicts."""
        found = (part.verdict(question, meter) for part in self.parts)
        match self.name:
            case "require-all":
                return all_of(found)
            case "require-any":
                return any_of(found)
            case _:
                return opposite(self.parts[0].verdict(question, meter))

"""Samples: things that a filter probably matches, to ask the evaluator about.

A lint rests on what the evaluator answers of a sample, never on the sample: one that the filter does not match finds
nothing.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sbc.analysis.sbpl.spelling import canonical
from sbc.analysis.sbpl.words_of_regex import shortest
from sbc.diagnostics.visible import brief
from sbc.seatbelt.addresses import Address, Endpoint
from sbc.seatbelt.constants import NUMBERS, WORDS
from sbc.seatbelt.filters import Combined, Comparison, Filter, Network, Relation, UnixSocket
from sbc.seatbelt.patterns import Bits, Fact, Number, Pattern, Regex, Text
from sbc.seatbelt.question import Question
from sbc.seatbelt.values import Name

MAX_SAMPLES = 1000
"""Of one rule so many paths, names or addresses are asked about."""

_FAR = "203.0.113.1"
"""An address that is nobody's (RFC 5737)."""

_SERVICES = ("global-name", "local-name", "xpc-service-name")


class Sample(NamedTuple):
    """What may be asked about: facts, or the ends of a connection."""

    facts: tuple[tuple[str, Fact], ...] = ()
    endpoint: Endpoint | None = None

    def question(self, operation: str) -> Question:
        """Give the question about an operation; a path is a socket's where the operation is the network's."""
        facts = dict(self.facts)
        unix = operation.startswith("network") and "path" in facts and self.endpoint is None
        if unix:
            facts.setdefault("socket-domain", NUMBERS["AF_UNIX"])
        return Question(operation, facts, self.endpoint, unix, any(kind in facts for kind in _SERVICES))

    @property
    def text(self) -> str:
        """The words for it: a path, an address, a name; empty where there is nothing to say."""
        if self.endpoint:
            point = self.endpoint
            return f"{point.side} {point.protocol} {point.host}:{point.port}"
        first = next((value for _, value in self.facts), "")
        return brief(first.name if isinstance(first, Name) else str(first))


def path(value: str) -> Sample:
    """Give a path to ask about."""
    return Sample((("path", value),))


def remote(port: int = 443) -> Sample:
    """Give a connection to another machine."""
    return Sample(endpoint=Endpoint("remote", "tcp", 4, _FAR, port))


def samples(filters: tuple[Filter, ...]) -> Iterator[Sample]:
    """Give samples of what filters match; of no filter at all one that says nothing."""
    if not filters:
        yield Sample()
    for one in filters:
        yield from _of(one)


def crossing(one: Filter, other: Filter) -> Iterator[Sample]:
    """Give samples of what expressions of one filter match in the folders of another one."""
    if not (isinstance(one, Comparison) and isinstance(other, Comparison) and one.fact == other.fact):
        return
    for pattern in one.patterns:
        for beginning in other.patterns if isinstance(pattern, Regex) else ():
            if isinstance(pattern, Regex) and isinstance(beginning, Text) and beginning.match in ("subpath", "prefix"):
                slash = "/" if beginning.match == "subpath" else ""
                text = shortest(pattern.pattern, beginning.value.rstrip("/") + slash)
                if text is not None and (not one.fact.endswith("path") or canonical(text) == text):
                    yield Sample(((one.fact, text),))


def further(one: Sample, others: tuple[Sample, ...]) -> Iterator[Sample]:
    """Give a sample with what others say besides: a kind of file, the owner of a process."""
    said = {name for name, _ in one.facts}
    more = dict.fromkeys(tuple(fact for fact in other.facts if fact[0] not in said) for other in others)
    yield from (one._replace(facts=one.facts + facts) for facts in more if facts)


def _of(one: Filter) -> Iterator[Sample]:
    if isinstance(one, Comparison):
        for pattern in one.patterns:
            yield from (Sample(((one.fact, value),)) for value in values(one.fact, pattern))
    elif isinstance(one, Relation):
        yield from (Sample((("target", Name(word)),)) for word in one.words)
    elif isinstance(one, Network):
        for address in one.addresses or (Address(False, None),):
            host = "127.0.0.1" if address.loopback else _FAR
            protocol = "udp" if one.protocol.startswith("udp") else "tcp"
            port = 443 if address.port is None else address.port
            yield Sample(endpoint=Endpoint(one.side, protocol, 4, host, port))
    elif isinstance(one, UnixSocket):
        yield from samples(one.inner) if one.inner else (path("/private/tmp/s"),)
    elif isinstance(one, Combined) and one.name == "require-any":
        yield from samples(one.parts)
    elif isinstance(one, Combined) and one.name == "require-all":
        yield from _all(one)
    elif isinstance(one, Combined):
        yield from _other(one.parts[0])


def _other(one: Filter) -> Iterator[Sample]:
    """Give a sample of another word than those of a filter: another kind of file."""
    if isinstance(one, Comparison):
        named = {part.value.name for part in one.patterns if isinstance(part, Number) and isinstance(part.value, Name)}
        free = (word for word in WORDS.get(one.fact, ()) if word not in named)
        yield from (Sample(((one.fact, Name(word)),)) for word in islice(free, 1))


def _all(one: Combined) -> Iterator[Sample]:
    """Give samples of the first part that has several, together with the first of each other part."""
    parts = [list(islice(_of(part), MAX_SAMPLES)) for part in one.parts]
    parts = [part for part in parts if part]
    if not parts:
        return
    longest = max(range(len(parts)), key=lambda index: len(parts[index]))
    others = [part[0] for index, part in enumerate(parts) if index != longest]
    for sample in parts[longest]:
        facts = dict(sample.facts)
        endpoint = sample.endpoint
        for other in others:
            facts.update((name, value) for name, value in other.facts if name not in facts)
            endpoint = endpoint or other.endpoint
        yield Sample(tuple(facts.items()), endpoint)


def values(fact: str, pattern: Pattern) -> tuple[Fact, ...]:
    """Give values of a fact that a pattern matches; of extensions none: who issues one means to open what it opens."""
    if "extension" in fact:
        return ()
    if isinstance(pattern, Number):
        return (pattern.value,)
    if isinstance(pattern, Bits):
        return (pattern.value,)
    if isinstance(pattern, Regex):
        return _matching(fact, pattern)
    if not isinstance(pattern, Text):
        return (int(pattern.value),)
    if not fact.endswith("path"):
        return (pattern.value,)
    texts = (pattern.value,)
    if pattern.match == "subpath":
        texts = (f"{pattern.value.rstrip('/')}/a", pattern.value)
    elif pattern.match == "prefix":
        texts = (f"{pattern.value}a",)
    return tuple(one for one in texts if canonical(one) == one)


def _matching(fact: str, pattern: Regex) -> tuple[Fact, ...]:
    text = shortest(pattern.pattern)
    if text is None:
        return ()
    if not fact.endswith("path"):
        return (text,)
    return tuple(one for one in (text, f"/{text}", f"/a{text}") if canonical(one) == one)[:1]

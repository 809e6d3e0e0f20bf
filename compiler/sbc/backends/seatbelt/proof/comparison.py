"""One comparison: a profile and its policy, under one choice of values."""

from collections.abc import Mapping
from functools import cached_property

from sbc.backends.seatbelt.proof.differs import Differs, TooLarge, unreadable
from sbc.backends.seatbelt.proof.meaning import PTY, Decided, Meaning, composed
from sbc.backends.seatbelt.proof.questions import TERMINAL, addresses, names, paths, reachable, socket_paths
from sbc.backends.seatbelt.proof.raw import NotKnown, Raw, Said, base
from sbc.backends.seatbelt.proof.words import (
    ACTORS,
    BESIDE,
    DEVICE,
    EXEC,
    FILES,
    INSIDES,
    LINKS,
    LOOK,
    OTHERS,
    READ,
    TASKS,
    UNLINK,
    WRITE,
)
from sbc.diagnostics.catalogue.sbpl import SbplBudget, SbplNotKnown
from sbc.diagnostics.diagnostic import Failed
from sbc.macos.operations import OUTSIDE_DEFAULT, PARENTS
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.seatbelt.decide import MAX_WORK, Answer, answer, answers, filtered, matching, signature
from sbc.seatbelt.load import Loaded, Prepared, load
from sbc.seatbelt.question import Question, named_fact, question
from sbc.seatbelt.values import Name
from sbc.seatbelt.verdict import Meter

_TARGETS = ("self", "same-sandbox", "children", "others")
_ON_PATHS = tuple(sorted(FILES | BESIDE))
_LEAVES = PARENTS.keys() - set(PARENTS.values())
_REST = tuple(sorted(_LEAVES - FILES - BESIDE - OTHERS - TASKS - INSIDES - set(LINKS)))
_UNREACHED = frozenset(name for name, parent in PARENTS.items() if name in OUTSIDE_DEFAULT or parent in OUTSIDE_DEFAULT)
_APART = (READ, LOOK, WRITE, EXEC, DEVICE, {UNLINK}, {"file-ioctl"}, {"file-search"})
"""Families of operations that the policy may tell apart on one path."""


class Comparison:
    """Compares, and counts: `compared` answers were alike, `open` ones are not known, by rules of the block."""

    def __init__(
        self, policy: Policy, text: Prepared, told: frozenset[Origin], values: Mapping[str, str], imported: str
    ) -> None:
        self._told = told
        """Statements of which it is told that more is allowed than they say."""
        self._values = values
        self._default = Decided(policy.seatbelt.default.action, policy.seatbelt.default.origin)
        self._meaning = Meaning(policy, values)
        try:
            self._raw = Raw(policy.seatbelt, values, imported)
            self._loaded = load(text, values, imported=self._raw.imports)
        except Failed as failed:
            raise unreadable(failed) from None
        self.compared = 0
        self.open = 0

    def run(self, *, moved: bool) -> None:
        """Compare all; `Differs` at the first difference. `moved`: only where other values tell otherwise."""
        self._paths(paths(self._meaning, self._profiles_of_paths(), moved=moved))
        opened = self._meaning.open
        self._sockets(reachable(self._meaning, moved=moved) if opened else socket_paths(self._meaning))
        if moved:
            return
        self._internet()
        self._processes()
        self._rest()

    def _paths(self, asked: tuple[str, ...]) -> None:
        operations = self._unlike(_ON_PATHS)
        nothing = (None,) * len(operations)
        profiles = self._profiles_of_paths()
        alike = [matching(one, operations) for one in profiles]
        seen: set[object] = set()
        for path in asked:
            here = self._meaning.places.here(path)
            key = (self._meaning.kind(here), *(one.of(path, Meter(MAX_WORK)) for one in alike))
            if key in seen:
                continue
            seen.add(key)
            raw = self._raw.says_of(operations, path)
            started = answers(self._files, operations, path) if here.hidden_root else nothing
            found = answers(self._loaded, operations, path)
            for operation, ours, first, got in zip(operations, raw, started, found, strict=True):
                if operation == UNLINK and path == "/":
                    continue  # nobody can rename the root
                opened = isinstance(first, Answer) and first.decision == "allow"
                derived = self._meaning.file(operation, here, base=opened)
                self._compare(got, (derived, ours, self._default), operation, path)
        here = self._meaning.places.here(TERMINAL)
        for operation in operations:
            one = Question(operation, {"path": TERMINAL, "extension": PTY})
            derived = self._meaning.file(operation, here, base=False, marked=True)
            self._ask(one, derived, f"{TERMINAL}, made by the command,")

    def _unlike(self, operations: tuple[str, ...]) -> tuple[str, ...]:
        """Give one of all operations that have one answer for every path, in every profile here and in the policy."""
        profiles = self._profiles_of_paths()
        found: dict[object, str] = {}
        for name in operations:
            kind = tuple(name in family for family in _APART)
            found.setdefault((kind, *(signature(one, name) for one in profiles)), name)
        return tuple(found.values())

    def _profiles_of_paths(self) -> tuple[Loaded, ...]:
        """Give the profile, and those that tell what the policy decides about paths."""
        base = (self._files,) if self._meaning.places.here("/").hidden_root else ()
        return (self._loaded, *self._raw.loaded, *base)

    def _sockets(self, asked: tuple[str, ...]) -> None:
        for path in asked:
            here = self._meaning.places.here(path)
            one = question(LINKS[0], f"unix {path}")
            for operation in LINKS:
                self._ask(one._replace(operation=operation), self._meaning.socket(operation, here), f"unix {path}")

    def _internet(self) -> None:
        for host, port in addresses(self._meaning):
            for operation in LINKS:
                side = "remote" if operation == "network-outbound" else "local"
                for protocol in ("tcp", "udp"):
                    target = f"{side} {protocol} {host}:{port}"
                    self._ask(question(operation, target), self._meaning.internet(operation, host, port), target)

    def _processes(self) -> None:
        for operation in sorted(OTHERS | TASKS | INSIDES):
            for target in _TARGETS:
                one = Question(operation, {"target": Name(target)})
                derived = self._meaning.process(operation, target)
                if operation in INSIDES:
                    said = self._raw.says(one)
                    if isinstance(said, Said) and said.action == "allow" and not said.bare:
                        derived = Decided("deny", said.origin, said.origin)
                self._ask(one, derived, target)

    def _rest(self) -> None:
        asked: set[object] = set()
        profiles = [self._loaded, *self._raw.loaded, *([self._services] if self._services else [])]
        for operation in _REST:
            fact = named_fact(operation)
            compared = any(filtered(one, operation) for one in profiles)
            if not compared and operation not in ACTORS:
                # What has no filter anywhere is asked about once for all operations that fall under the same rules.
                key = (self._meaning.rest(operation, None), *(signature(one, operation) for one in profiles))
                if key in asked:
                    continue
                asked.add(key)
            targets = names(profiles, fact) if compared and fact else (None,)
            for name in targets:
                one = Question(operation, {fact: name} if fact and name else {})
                self._ask(one, self._meaning.rest(operation, name), name or "")

    def _ask(self, one: Question, derived: Decided | None, target: str) -> None:
        """Ask one question of all."""
        ours = self._raw.says(one)
        otherwise = self._otherwise(one) if derived is None and ours is None else self._default
        try:
            found = answer(self._loaded, one)
        except Failed as failed:
            found = failed
        self._compare(found, (derived, ours, otherwise), one.operation, target)

    def _otherwise(self, one: Question) -> Decided:
        """Decide what no block does: by the shipped base, else by the default."""
        if self._services is not None:
            return Decided(answer(self._services, one).decision, self._default.origin)
        closed = one.operation in ACTORS and not self._raw.names(one.operation)
        return Decided("deny", self._default.origin) if closed else self._default

    @cached_property
    def _services(self) -> Loaded | None:
        return base(services=self._meaning.open) if self._default.action == "deny" else None

    @cached_property
    def _files(self) -> Loaded:
        return base(services=False)

    def _compare(
        self,
        found: Answer | Failed,
        policy: tuple[Decided | None, Said | NotKnown | None, Decided],
        operation: str,
        target: str,
    ) -> None:
        wanted = composed(*policy)
        if isinstance(found, Failed):
            one = found.diagnostics[0]
            if isinstance(one, SbplBudget):
                raise TooLarge(one.title())
            if not isinstance(one, SbplNotKnown) or not self._open(policy[1], operation):
                raise self._differs(operation, target, f"is not known ({one.title()})", wanted)
            self.open += 1
        elif wanted is None:
            self.open += 1
        elif found.decision == wanted.action or (found.decision == "allow" and wanted.told in self._told):
            self.compared += 1
        else:
            line = "no rule"
            if found.rule is not None:
                at = found.rule.at
                line = f"line {at.line}, `{at.source.line_text(at.line).strip()}`"
            raise self._differs(operation, target, f"is {_DONE[found.decision]} by {line}", wanted)

    def _open(self, ours: Said | NotKnown | None, operation: str) -> bool:
        """Tell whether what the block says is open; where no default reaches, its silence under both tells nothing."""
        return isinstance(ours, NotKnown) or (ours is None and operation in _UNREACHED and bool(self._raw.loaded))

    def _differs(self, operation: str, target: str, found: str, wanted: Decided | None) -> Differs:
        policy = f"{_DONE[wanted.action]} by `{wanted.origin.text}` ({wanted.origin.where()})" if wanted else "open"
        used = ", ".join(f"{name}={value}" for name, value in sorted(self._values.items()) if value in target)
        given = f", where {used}" if used else ""
        shown = f" on `{target}`" if target else ""
        return Differs(f"`{operation}`{shown} {found}, and {policy}{given}", wanted.origin if wanted else None)


_DONE = {"allow": "allowed", "deny": "denied"}

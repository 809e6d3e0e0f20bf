"""What the `seatbelt` block and the shipped base say, each for itself: rules of SBPL, so the evaluator reads them."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal, NamedTuple

from sbc.data import profiles_folder
from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.macos.operations import ALIASES, NEWER, OUTSIDE_DEFAULT, PARENTS
from sbc.macos.services import NETWORK_SERVICES
from sbc.policy.origin import Origin
from sbc.policy.seatbelt import SbplFilter, SbplImport, SbplRule, SbplString, SbplWord, Seatbelt
from sbc.seatbelt.decide import Answer, answer, answers
from sbc.seatbelt.load import Loaded, load
from sbc.seatbelt.question import Question

Action = Literal["allow", "deny"]

_OPENED = " ".join(sorted(PARENTS.keys() - NEWER - {"default"}))
IMPORTED = (f'(allow {_OPENED} (require-not (extension "none")))', "")
"""What an imported profile, which nobody has read, is taken to say: it allows all by a filter, or it is empty."""


class Said(NamedTuple):
    """What the block says of one question: by a rule of its own, and whether that has no filter."""

    action: Action
    bare: bool
    origin: Origin


class NotKnown(NamedTuple):
    """What a rule says is open on macOS, or depends on what the question does not tell."""

    why: str


class Raw:
    """The `seatbelt` block alone."""

    def __init__(self, seatbelt: Seatbelt, values: Mapping[str, str], imported: str) -> None:
        self.statements = tuple(one for one in seatbelt.statements if one.origin.on != "linux")
        self.imports = {one.path: imported for one in self.statements if isinstance(one, SbplImport)}
        self.loaded: tuple[Loaded, ...] = ()
        """The block under either default: what one of them leaves open is open."""
        if self.statements:
            # A statement is a line, so the line of the deciding rule tells which one it is.
            lines = [_statement(one) for one in self.statements]
            texts = ("\n".join((f"(version 1) ({action} default)", *lines)) for action in ("deny", "allow"))
            self.loaded = tuple(load(Source(_NAME, text), values, imported=self.imports) for text in texts)

    def says(self, question: Question) -> Said | NotKnown | None:
        """Give what the block says; None where it says nothing."""
        found: list[Answer] = []
        for one in self.loaded:
            try:
                found.append(answer(one, question))
            except Failed as failed:
                return NotKnown(failed.diagnostics[0].title())
        return self._said(found[0]) if found else None

    def says_of(self, operations: tuple[str, ...], path: str) -> Iterator[Said | NotKnown | None]:
        """Give what the block says of one path, for several operations."""
        if not self.loaded:
            yield from (None for _ in operations)
        for under in zip(*(answers(one, operations, path) for one in self.loaded), strict=True):
            failed = next((one for one in under if isinstance(one, Failed)), None)
            if failed is not None:
                yield NotKnown(failed.diagnostics[0].title())
            elif isinstance(under[0], Answer):
                yield self._said(under[0])

    def _said(self, found: Answer) -> Said | NotKnown | None:
        if found.rule is None:
            return None
        at = found.rule.at
        if at.source.name == _NAME:
            return Said(found.decision, found.bare, self.statements[at.line - 2].origin) if at.line > 1 else None
        # Else it is one that every profile gets, or an imported one's: what that says, nobody has read.
        return NotKnown(f"what `{at.source.name}` says") if at.source.name in self.imports else None

    def names(self, operation: str) -> bool:
        """Tell whether a rule names an operation itself."""
        return any(
            isinstance(one, SbplRule) and operation in (_meant(name) for name in one.operations)
            for one in self.statements
        )


_NAME = "the seatbelt block"


def _meant(name: str) -> str:
    return ALIASES.get(name, name)


def _statement(one: SbplRule | SbplImport) -> str:
    if isinstance(one, SbplImport):
        return f"(import {_quoted(one.path)})"
    return f"({' '.join((one.action, *one.operations, *map(_filter, one.filters)))})"


def _filter(one: SbplFilter) -> str:
    words = [one.name]
    for argument in one.arguments:
        match argument:
            case SbplWord(text=text):
                words.append(text)
            case SbplString(value=value):
                words.append(_quoted(value))
            case int():
                words.append(str(argument))
    return f"({' '.join((*words, *map(_filter, one.inner)))})"


def _quoted(text: str) -> str:
    return '"' + "".join(f"\\{sign}" if sign in '"\\' else sign for sign in text) + '"'


@cache
def base(*, services: bool) -> Loaded:
    """Give the shipped base under a default of deny; `services`: with what programs ask for that use a network."""
    closed = " ".join(name for name in OUTSIDE_DEFAULT if name != "syscall*")
    text = (profiles_folder() / "lib" / "macos-base.sb").read_text(encoding="utf-8")
    asked = " ".join(f"(global-name {_quoted(name)})" for name in NETWORK_SERVICES) if services else ""
    more = f"(allow mach-lookup {asked})" if services else ""
    return load(Source("macos-base.sb", f"(version 1) (deny default) (deny {closed}) {more}\n{text}"))

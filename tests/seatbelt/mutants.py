"""Mistakes that an emitter could make: each changes one thing in a profile's text."""

from collections.abc import Iterator, Sequence
from itertools import chain

from sbc.backends.seatbelt.proof.words import BESIDE, FILES, INSIDES, LINKS, OTHERS, SHARED, TASKS
from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.macos.operations import PARENTS
from sbc.seatbelt.decide import Answer, answer, answers
from sbc.seatbelt.load import Loaded, load
from sbc.seatbelt.question import Question, named_fact, question
from sbc.seatbelt.values import Name

Form = list[str]
"""A rule: its action, its operations, its filters, each as text."""


def forms(text: str) -> list[Form]:
    """Split a profile into its forms, and each rule into its parts; comments are left out."""
    found: list[Form] = []
    parts: Form = []
    depth = start = at = 0
    while at < len(text):
        sign = text[at]
        if sign == ";":
            at = text.index("\n", at)
        elif sign == '"':
            at += 1
            while text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif sign == "(":
            depth += 1
            if depth == 2:
                parts += text[start:at].split()
            if depth <= 2:
                start = at
            if depth == 1:
                start = at + 1
        elif sign == ")":
            depth -= 1
            if depth == 1:
                parts.append(text[start : at + 1])
                start = at + 1
            elif depth == 0:
                found.append(parts + text[start:at].split())
                parts = []
        at += 1
    return found


def written(rules: list[Form]) -> str:
    return "\n".join(f"({' '.join(one)})" for one in rules) + "\n"


def operations(one: Form) -> list[str]:
    return [part for part in one[1:] if not part.startswith("(")]


def _is_rule(one: Form) -> bool:
    return one[0] in ("allow", "deny")


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Give each mutant's description and text."""
    rules = forms(text)
    for place, one in enumerate(rules):
        if not _is_rule(one):
            continue
        for what, changed in chain(_changed(one), _added(one)):
            yield (
                f"{what} in rule {place}: {' '.join(one)[:80]}",
                written([*rules[:place], changed, *rules[place + 1 :]]),
            )
        yield f"without rule {place}: {' '.join(one)[:80]}", written(rules[:place] + rules[place + 1 :])
        for other in (place + 1, place + 2, len(rules) - 1):
            if place < other < len(rules) and _is_rule(rules[other]):
                moved = [*rules[:place], *rules[place + 1 : other + 1], one, *rules[other + 1 :]]
                yield f"rule {place} after {other}: {' '.join(one)[:80]}", written(moved)
    plain = written(rules)
    for old, new in (
        *(("/private/tmp", "/tmp"), ("/private/var", "/var"), ("/private/etc", "/etc")),
        *(("/System/Volumes/Data/home", "/home"), ('\\"', '"'), ("\\\\", "\\"), ('\\"', ""), ("[1]", "1")),
    ):
        if old in plain:
            yield f"{old} as {new}", plain.replace(old, new)


def _changed(one: Form) -> Iterator[tuple[str, Form]]:
    yield "the other action", [{"allow": "deny", "deny": "allow"}[one[0]], *one[1:]]
    for place, part in enumerate(one[1:], 1):
        if part.startswith("("):
            yield f"without {part}", one[:place] + one[place + 1 :]
            for old, new in (("(subpath", "(literal"), ("(literal", "(subpath"), ('")', '/")'), ('")', 'x")')):
                if old in part:
                    yield f"{new} for {old} of {part}", [*one[:place], part.replace(old, new, 1), *one[place + 1 :]]
        elif len(operations(one)) > 1:
            yield f"without {part}", one[:place] + one[place + 1 :]


def _added(one: Form) -> Iterator[tuple[str, Form]]:
    """Name an operation below one of those named, which then stands above all rules on what it falls under."""
    named = operations(one)
    for child, parent in PARENTS.items():
        if parent in named and child not in named:
            yield f"with {child}", [one[0], *named, child, *(part for part in one[1:] if part.startswith("("))]


class Grid:
    """What a profile decides about many more questions than the proof asks."""

    def __init__(self, text: str, values: Sequence[dict[str, str]], paths: Sequence[str], names: Sequence[str]) -> None:
        self._values, self._paths, self._names = values, paths, names
        self._held = [list(self._decided(load(Source("a", text), given))) for given in values]

    def differs(self, text: str) -> str:
        """Give where another profile decides differently; empty where it does not."""
        for given, held in zip(self._values, self._held, strict=True):
            try:
                loaded = load(Source("b", text), given)
            except Failed as failed:
                return failed.diagnostics[0].title()
            for before, after in zip(held, self._decided(loaded), strict=True):
                if before != after:
                    return f"{before}, then {after}"
        return ""

    def _decided(self, loaded: Loaded) -> Iterator[tuple[str, ...]]:
        operations = sorted(FILES | BESIDE)
        for path in self._paths:
            yield (path, *map(_shown, answers(loaded, operations, path)))
            one = question("network-outbound", f"unix {path}")
            yield ("unix", path, *(_asked(loaded, one._replace(operation=operation)) for operation in LINKS))
        for one in _others(self._names):
            told = (value.name if isinstance(value, Name) else str(value) for value in one.facts.values())
            yield (one.operation, *told, _asked(loaded, one))


def _others(names: Sequence[str]) -> Iterator[Question]:
    for operation in (*OTHERS, *TASKS, *INSIDES):
        for target in ("self", "same-sandbox", "children", "others"):
            yield Question(operation, {"target": Name(target)})
    for operation in LINKS:
        side = "remote" if operation == "network-outbound" else "local"
        for host in ("127.0.0.1", "[::1]", "1.1.1.1", "[::2]"):
            for port in (1, 80, 443, 3000, 3001, 5432, 5433, 8080):
                yield question(operation, f"{side} tcp {host}:{port}")
    leaves = PARENTS.keys() - set(PARENTS.values())
    for operation in sorted(leaves - FILES - BESIDE - OTHERS - TASKS - INSIDES - set(LINKS)) + sorted(SHARED):
        fact = named_fact(operation)
        for name in names:
            yield Question(operation, {fact: name} if fact else {})
            if not fact:
                break


def _asked(loaded: Loaded, one: Question) -> str:
    try:
        return answer(loaded, one).decision
    except Failed as failed:
        return failed.diagnostics[0].code


def _shown(found: Answer | Failed) -> str:
    return found.decision if isinstance(found, Answer) else found.diagnostics[0].code

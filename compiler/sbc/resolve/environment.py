"""The `environment` block."""

from sbc.diagnostics.catalogue import blocks as problems
from sbc.diagnostics.catalogue.verdicts import StatedTwice
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span
from sbc.policy.origin import Origin
from sbc.policy.policy import Override
from sbc.policy.process import Environment, Pattern, SetVariable
from sbc.resolve.chain import Level
from sbc.resolve.inherit import Entry, inherited
from sbc.resolve.origins import origin_of
from sbc.resolve.params import Params
from sbc.resolve.systems import SYSTEMS, opened, systems_of
from sbc.syntax import tree

Stated = Pattern | SetVariable


def lower_environment(
    levels: list[Level], params: Params, overrides: list[Override], reporter: Reporter
) -> Environment:
    """Give the policy of the `environment` blocks of a chain."""
    written = [level.blocks["environment"] for level in levels if "environment" in level.blocks]
    entries = inherited([_read(block, params, reporter) for block in written], overrides)
    values = [entry.value for entry in entries]
    return Environment(
        tuple(one for one in values if isinstance(one, Pattern)),
        tuple(one for one in values if isinstance(one, SetVariable)),
    )


def _read(block: tree.Block, params: Params, reporter: Reporter) -> list[Entry[Stated]]:
    found: list[Entry[Stated]] = []
    earlier: _Earlier = {}
    for statement, on in opened(block.body or (), reporter):
        origin = origin_of("environment", statement, on)
        if isinstance(statement, tree.PatternStatement):
            if not statement.patterns:
                reporter.add(problems.NothingNamed(statement.span))
            for word in statement.patterns:
                subject = (statement.verb, word.text)
                first = _first(earlier, subject, origin)
                if first is not None:
                    reporter.add(problems.StatedAgain(origin.span, f"`{statement.verb} {word.text}`", first))
                    continue
                pattern = Pattern(statement.verb, word.text, origin)
                found.append(Entry((("pattern", word.text), subject), origin, pattern))
        elif isinstance(statement, tree.SetStatement):
            found.extend(_set(statement, origin, earlier, params, reporter))
    return found


def _set(
    statement: tree.SetStatement, origin: Origin, earlier: "_Earlier", params: Params, reporter: Reporter
) -> list[Entry[Stated]]:
    name = statement.name.text
    first = _first(earlier, ("set", name), origin)
    if first is not None:
        reporter.add(StatedTwice(origin.span, f"the variable `{name}`", first))
    written = statement.value
    value = written.value if isinstance(written, tree.Text) else params.typed(written, "text")
    return [] if value is None else [Entry((("set", name),), origin, SetVariable(name, value, origin))]


_Earlier = dict[tuple[str, str, str], Span | None]
"""Where each subject was stated first, for each system."""


def _first(earlier: _Earlier, subject: tuple[str, str], origin: Origin) -> Span | None:
    """Give where a subject was stated for one of the statement's systems; else note that it is now."""
    keys = [(*subject, system) for system in SYSTEMS if system in systems_of(origin.on)]
    first = next((earlier[key] for key in keys if key in earlier), None)
    for key in keys:
        earlier.setdefault(key, origin.span)
    return first

"""Ways to ask that the tests share."""

from collections.abc import Mapping

from sbc.diagnostics.diagnostic import Diagnostic, Failed
from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import Answer, decide
from sbc.seatbelt.load import Loaded, load
from sbc.seatbelt.rules import Rule


def loaded(text: str, params: Mapping[str, str] | None = None) -> Loaded:
    return load(Source("t.sb", text), params)


def rules(text: str) -> tuple[Rule, ...]:
    """Give the profile's own rules; the version need not be said."""
    return loaded("(version 1)\n" + text).rules[:-2]


def asked(text: str, operation: str, target: str | None, attributes: Mapping[str, str] | None = None) -> Answer:
    return decide(loaded("(version 1)\n" + text), operation, target, attributes)


def decision(text: str, operation: str, target: str | None, **attributes: str) -> str:
    """Give the decision, or the code of the diagnostic that there is instead."""
    try:
        return asked(text, operation, target, {name.replace("_", "-"): v for name, v in attributes.items()}).decision
    except Failed as failed:
        return failed.diagnostics[0].code


def refusal(text: str) -> Diagnostic:
    """Give why a profile is refused."""
    try:
        loaded(text)
    except Failed as failed:
        (one,) = failed.diagnostics
        return one
    raise AssertionError("it was not refused")


def place(text: str) -> tuple[str, int, int]:
    """Give the code of a refusal, and its line and column."""
    one = refusal(text)
    assert one.span is not None
    return one.code, one.span.line, one.span.column

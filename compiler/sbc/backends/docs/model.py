"""The document of a policy: sections of plain blocks, in a fixed order."""

from collections.abc import Callable

from sbc.backends.docs import calls, report, setup
from sbc.backends.docs.blocks import Document, Section, prose
from sbc.backends.docs.report import Report
from sbc.policy.policy import Policy

_OF_POLICY: tuple[Callable[[Policy], Section], ...] = (
    calls.summary,
    calls.calls,
    calls.arguments,
    setup.files,
    setup.proc,
    setup.network,
    setup.environment,
    setup.identity,
    setup.limits,
    report.parameters,
    report.seatbelt,
    report.overrides,
)
_OF_REPORT: tuple[Callable[[Report], Section], ...] = (report.coverage, report.losses)

SECTIONS = (
    "summary",
    "calls",
    "arguments",
    "files",
    "proc",
    "network",
    "environment",
    "identity",
    "limits",
    "parameters",
    "seatbelt",
    "overrides",
    "coverage",
    "losses",
    "sources",
)
"""The keys of all sections, in order."""


def sections(policy: Policy, what: Report) -> tuple[Section, ...]:
    """Give every section, also those without content."""
    return (
        *(make(policy) for make in _OF_POLICY),
        *(make(what) for make in _OF_REPORT),
        report.sources(policy),
    )


def document(policy: Policy, what: Report) -> Document:
    """Give the whole document: the sections that have content."""
    found = tuple(section for section in sections(policy, what) if section.blocks)
    return Document(policy.name, prose(policy.reason), found)

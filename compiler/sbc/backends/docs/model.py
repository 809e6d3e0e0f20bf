"""The document of a policy: sections of plain blocks, in a fixed order."""

from collections.abc import Callable

from sbc.backends.docs import calls, report, setup
from sbc.backends.docs.blocks import Document, Paragraph, Section, prose
from sbc.backends.docs.report import Report
from sbc.policy.origin import Block as PolicyBlock
from sbc.policy.policy import Policy
from sbc.record import replaced

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
    setup.containment,
    report.parameters,
    report.seatbelt,
    report.overrides,
)
_BLOCKS: dict[str, PolicyBlock] = {
    "summary": "syscalls",
    "files": "files",
    "proc": "proc",
    "environment": "environment",
    "identity": "identity",
    "limits": "limits",
    "seatbelt": "seatbelt",
}
"""The block that each section is about; the sections of network and containment give its reason themselves."""

_OF_REPORT: tuple[Callable[[Report], Section], ...] = (report.coverage, report.losses, report.notes)

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
    "containment",
    "parameters",
    "seatbelt",
    "overrides",
    "coverage",
    "losses",
    "notes",
    "sources",
)
"""The keys of all sections, in order."""


def sections(policy: Policy, what: Report) -> tuple[Section, ...]:
    """Give every section, also those without content."""
    reasons = dict(policy.block_reasons)
    return (
        *(_with_reason(make(policy), reasons) for make in _OF_POLICY),
        *(make(what) for make in _OF_REPORT),
        report.sources(policy),
    )


def _with_reason(section: Section, reasons: dict[PolicyBlock, str]) -> Section:
    """Begin a section with what the profile says above the block that it is about."""
    block = _BLOCKS.get(section.key)
    why = reasons.get(block, "") if block else ""
    return replaced(section, blocks=(Paragraph(prose(why)), *section.blocks)) if why else section


def document(policy: Policy, what: Report) -> Document:
    """Give the whole document: the sections that have content."""
    found = tuple(section for section in sections(policy, what) if section.blocks)
    return Document(policy.name, prose(policy.reason), found)

"""The target `docs`: `NAME.md`, tables for people."""

from sbc.backends.docs.markdown import render
from sbc.backends.docs.model import document
from sbc.backends.docs.report import Report
from sbc.backends.target import Artifact, OutputFile
from sbc.policy.origin import Block
from sbc.policy.policy import Policy


class DocsTarget:
    """Describes the policy, and what the other targets made of it, where that is given."""

    def __init__(self, report: Report | None = None) -> None:
        self._report = report or Report()

    @property
    def name(self) -> str:
        """The word that names it after `--target`."""
        return "docs"

    @property
    def blocks(self) -> frozenset[Block]:
        """A document enforces nothing: it is responsible for no block."""
        return frozenset()

    def emit(self, policy: Policy) -> Artifact:
        """Give the Markdown."""
        text = render(document(policy, self._report))
        return Artifact((OutputFile(f"{policy.name}.md", text.encode()),))

"""What a child profile replaced of its parent's."""

from collections.abc import Iterator

from sbc.analysis.subject import Subject
from sbc.diagnostics.catalogue.lints import Overridden


def check(subject: Subject) -> Iterator[Overridden]:
    """List every override."""
    for override in subject.policy.overrides:
        where = (override.parent.span,) if override.parent.span else ()
        yield Overridden(override.child.span, override.child.text, override.parent.text, where)

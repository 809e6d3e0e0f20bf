"""Spelled paths: what the text of a path alone says."""

from sbc.diagnostics.catalogue import files as problems
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span


def rest_of(spelled: str, span: Span, reporter: Reporter) -> str | None:
    """Normalise what stands after the base of a path, or the whole where there is none; None where it is refused.

    `//`, `/./` and a trailing `/` mean nothing; `..` is refused, for where it leads depends on links.
    """
    if "\n" in spelled:
        reporter.add(problems.PathNewline(span))
        return None
    parts = [part for part in spelled.split("/") if part not in ("", ".")]
    if ".." in parts:
        reporter.add(problems.ParentFolder(span, span.text.strip('"')))
        return None
    return "/" + "/".join(parts)

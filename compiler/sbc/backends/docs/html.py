"""The document as one HTML page that needs nothing else: style inside, no script, no font, no link to elsewhere."""

from pathlib import Path

from sbc.backends.docs.blocks import Document
from sbc.backends.docs.markdown import NOTICE, visible

BEGIN = f"<!doctype html>\n{NOTICE}\n"
"""How every page begins."""

_TEMPLATES = Path(__file__).parent / "templates"


def render(document: Document) -> str:
    """Give the page. Whatever a profile's author writes is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["visible"] = visible
    environment.filters["kind"] = _kind
    return environment.get_template("page.html.j2").render(document=document, begin=BEGIN)


def _kind(value: object) -> str:
    return type(value).__name__

"""Documents that are behind their policy: whole ones, and generated regions inside other documents.

A region stands between two lines that are comments in Markdown and in HTML:

    <!-- sbc:begin PROFILE calls coverage -->
    ...
    <!-- sbc:end -->

It holds the named sections (none named: all). One section alone has no heading, so that the document can give its own.
A document without any region is wholly generated if it begins as those do that `sbc docs` prints; else it is somebody's
own, and nothing here may replace it.
"""

import re
from collections.abc import Callable, Iterable
from difflib import unified_diff

from sbc.backends.docs import html, markdown
from sbc.backends.docs.blocks import Document
from sbc.backends.docs.model import SECTIONS, document, sections
from sbc.backends.docs.report import Report
from sbc.policy.policy import Policy
from sbc.record import Record

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BEGIN = re.compile(r"\s*<!-- sbc:begin (\S+)((?: +[a-z]+)*) *-->\s*")
_END = re.compile(r"\s*<!-- sbc:end *-->\s*")
_MARKER = re.compile(r"\s*<!--\s*sbc:")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


class DocumentError(ValueError):
    """The markers of a document are wrong: `line` (from 1; None: all of it) and what is wrong there."""

    def __init__(self, line: int | None, what: str) -> None:
        super().__init__(f"line {line}: {what}" if line is not None else what)
        self.line = line
        self.what = what


class Region(Record):
    """A generated region: the profile, the sections, and the lines of its content, `end` excluded."""

    profile: str
    keys: tuple[str, ...]
    start: int
    end: int


def regions(lines: list[str]) -> tuple[Region, ...]:
    """Find the regions of a document; `DocumentError` where its markers are wrong. Code blocks are passed over."""
    found: list[Region] = []
    opened: Region | None = None
    fence = ""
    for number, text in enumerate(lines):
        if opened is None and (match := _FENCE.match(text)):
            fence = match[1] if not fence else "" if match[1].startswith(fence) else fence
        if fence or not _MARKER.match(text):
            continue
        if begin := _BEGIN.fullmatch(text):
            if opened is not None:
                raise DocumentError(number + 1, f"a region begins inside the one of line {opened.start}")
            keys = tuple(begin[2].split())
            for key in keys:
                if key not in SECTIONS:
                    raise DocumentError(number + 1, f"no section `{key}`; there are {', '.join(SECTIONS)}")
            opened = Region(begin[1], keys, number + 1, number + 1)
        elif _END.fullmatch(text):
            if opened is None:
                raise DocumentError(number + 1, "a region ends that did not begin")
            found.append(Region(opened.profile, opened.keys, opened.start, number))
            opened = None
        else:
            raise DocumentError(number + 1, "neither `<!-- sbc:begin PROFILE SECTION... -->` nor `<!-- sbc:end -->`")
    if opened is not None:
        raise DocumentError(opened.start, "the region that begins here has no `<!-- sbc:end -->`")
    return tuple(found)


def update(text: str, policy: Policy, report: Report | None = None) -> str:
    """Give the document with its regions for this profile written anew, or, where it is all our own, wholly anew.

    `DocumentError` where it is neither, or has regions, but none for this profile. Other text stays as it is, byte for
    byte.
    """
    what = report or Report()
    lines = _LINE.findall(text)
    found = regions(lines)
    if not found:
        return _renderer(lines)(document(policy, what))
    own = [region for region in found if region.profile == policy.name]
    if not own:
        raise DocumentError(found[0].start, f"no region is for `{policy.name}`; this one is for `{found[0].profile}`")
    for region in reversed(own):
        content = f"\n{_content(region.keys, policy, what)}\n"
        # The document's own line ends.
        windows = lines[region.start - 1].endswith("\r\n")
        lines[region.start : region.end] = [content.replace("\n", "\r\n") if windows else content]
    return "".join(lines)


def _renderer(lines: list[str]) -> Callable[[Document], str]:
    """Tell what wrote a document without regions; `DocumentError` where that was not us."""
    begin = "".join(lines[:2]).replace("\r\n", "\n")
    if begin.startswith(html.BEGIN):
        return html.render
    if begin.startswith(f"{markdown.NOTICE}\n"):
        return markdown.render
    what = "the document has no region (`<!-- sbc:begin PROFILE SECTION... -->`) and was not written by `sbc docs`"
    marked = next((number for number, line in enumerate(lines, 1) if _MARKER.match(line)), None)
    if marked is not None:
        what += f"; the marker of line {marked} stands in a code block"
    raise DocumentError(None, what)


def behind(text: str, policy: Policy, report: Report | None = None, name: str = "document") -> str | None:
    """Give the difference between a document and what it should say, as a unified diff; None where there is none."""
    right = update(text, policy, report)
    if right == text:
        return None
    return "\n".join(_diff(text, right, name)) + "\n"


def _diff(text: str, right: str, name: str) -> Iterable[str]:
    # A line's end is shown where it is what differs.
    have, want = text.split("\n"), right.split("\n")
    return unified_diff(have, want, name, f"{name} as `sbc docs` writes it", lineterm="")


def _content(keys: tuple[str, ...], policy: Policy, what: Report) -> str:
    chosen = [one for one in sections(policy, what) if (one.key in keys if keys else one.blocks)]
    return "\n".join(markdown.section(one, heading=len(keys) != 1) for one in chosen)

"""Reads Markdown as a renderer does, and gives what a reader sees."""

from html.parser import HTMLParser

from markdown_it import MarkdownIt


class Seen(HTMLParser):
    """The tags of a page, and its text, by cell and by item."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self.items: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
        elif tag == "li":
            self.items.append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data
        if self.items:
            self.items[-1] += data


def rendered(markdown: str) -> str:
    """Give the HTML of CommonMark with GFM's tables and strike-through, raw HTML let through."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)


def seen(markdown: str) -> Seen:
    """Give what a reader of Markdown sees."""
    return Seen(rendered(markdown))

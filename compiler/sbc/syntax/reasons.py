"""The `##` lines above a statement: why it is there, in the author's words."""


def reason_above(text: str, start: int) -> str:
    """Give the `##` lines just above what starts at an offset, if that is the first thing on its line; else nothing.

    Lines are joined by newlines, without the marks. `###` is an ordinary comment.
    """
    while start and text[start - 1] in " \t":
        start -= 1
    lines: list[str] = []
    while start and text[start - 1] == "\n":
        end = start - 1
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].strip()
        if not is_reason(line):
            break
        lines.append(line[2:].strip())
    return "\n".join(reversed(lines))


def is_reason(comment: str) -> bool:
    """Say whether a comment is a line of a reason, where it stands above a statement."""
    return comment.startswith("##") and not comment.startswith("###")

"""Spellings of paths that the kernel never sees."""

from sbc.macos.paths import LINKS


def canonical(path: str) -> str | None:
    """Give the spelling that the kernel sees of a path; None where there is none: relative, or with a `..`."""
    if not path.startswith("/") or ".." in path.split("/"):
        return None
    path = "/" + "/".join(part for part in path.split("/") if part not in ("", "."))
    for link, place in LINKS:
        # Names compare without regard to case (reference: "Paths").
        if path[: len(link)].lower() == link.lower() and path[len(link) :][:1] in ("", "/"):
            return place + path[len(link) :]
    return path


def is_link(path: str) -> bool:
    """Tell whether a path is one of the links themselves."""
    return any(path.lower() == link.lower() for link, _ in LINKS)

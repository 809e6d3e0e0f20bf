"""Names, paths and values of the caller's, as text that carries their bytes.

On Linux all of them are bytes. How Python shows them as text depends on the locale (`sys.getfilesystemencoding`), and
the helper is in another one: so they travel, and stand in outcomes and digests, as UTF-8, and bytes that are not UTF-8
as U+DC80 to U+DCFF.
"""

import os

Text = str | bytes | os.PathLike[str] | os.PathLike[bytes]
"""What may name something: text in the caller's encoding, or the bytes themselves."""


def carried(value: object, what: str) -> str:
    """Give a text as it travels; `TypeError` or `ValueError`, which say `what` it is, where it cannot be one."""
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"{what} is {type(value).__name__}: give str, bytes or a path")
    try:
        content = os.fsencode(value)  # pyright: ignore[reportUnknownArgumentType]
    except UnicodeEncodeError:
        raise ValueError(f"{what} {value!r} has no bytes in the encoding of the caller's locale") from None
    if b"\0" in content:
        raise ValueError(f"{what} {value!r} holds a NUL")
    return of_bytes(content)


def of_bytes(content: bytes) -> str:
    """Give bytes as the text that carries them."""
    return content.decode("utf-8", "surrogateescape")


def of_text(text: str) -> bytes:
    """Give the bytes that a text carries."""
    return text.encode("utf-8", "surrogateescape")

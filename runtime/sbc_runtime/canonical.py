"""The outer form of a bundle: one canonical JSON document, sealed by its content address.

Canonical: keys sorted, no blanks, no floats, UTF-8 without escapes beyond those that JSON needs, one newline at the
end. One value has one spelling, so bytes can be compared and hashed in place of values.

The sealed document begins, always, with its address and its format:

    {"address":"sha256:<64 hex digits>","bundle":"sbc-bundle/1",...}

The address is the SHA-256 of a domain string and of the document's bytes without the address member. It is checked on
the bytes, before anything is parsed.
"""

import json
import re

from sbc_runtime.sha256 import sha256_hex
from sbc_runtime.words import Any

FORMAT = "sbc-bundle"
VERSION = 1

MAX_BYTES = 16 * 1024 * 1024
"""The largest bundle that is read or written."""

MAX_DEPTH = 24
"""How deep arrays and objects may stand in each other; real bundles reach half of it."""

_DOMAIN = b"sbc bundle address 1\n"
_HEAD = re.compile(rb'\{"address":"sha256:([0-9a-f]{64})",("bundle":"sbc-bundle/([1-9][0-9]{0,8})",)')
_LOOKS_LIKE = b'{"address":"sha256:'
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_INNERMOST = re.compile(rb"[\[{][^\[\]{}]*[\]}]")

AGAIN = "compile the profile again"


class BundleError(ValueError):
    """A bundle cannot be used: `what` is wrong, and `remedy`, what to do about it."""

    def __init__(self, what: str, remedy: str = AGAIN) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


def canonical(value: object) -> bytes:
    """Give the canonical bytes of a JSON value, without the newline.

    A byte of a path that is not UTF-8 stands in text as Python has it, a lone surrogate U+DC80..U+DCFF; UTF-8 has no
    form for it, so it is written as JSON's escape.
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def content_address(rest: bytes) -> str:
    """Give the content address of a document whose bytes, its address left out, are `rest`."""
    return "sha256:" + sha256_hex(_DOMAIN + rest)


def seal(members: dict[str, Any]) -> bytes:
    """Give the bytes of a bundle with these members; the address and the format are added."""
    rest = canonical({**members, "bundle": f"{FORMAT}/{VERSION}"}) + b"\n"
    data = b'{"address":"' + content_address(rest).encode() + b'",' + rest[1:]
    if len(data) > MAX_BYTES:
        raise BundleError(f"the bundle would have {len(data)} bytes, {MAX_BYTES} at most", "split the profile")
    return data


def unseal(data: bytes) -> tuple[str, dict[str, Any]]:
    """Give the address and the members of sealed bytes; `BundleError` where they are not exactly what was sealed."""
    if len(data) > MAX_BYTES:
        raise BundleError(f"the file is larger than {MAX_BYTES} bytes", "name a bundle that `sbc compile` wrote")
    head = _HEAD.match(data)
    if head is None:
        if data and (data.startswith(_LOOKS_LIKE) or _LOOKS_LIKE.startswith(data)):
            raise BundleError("the head of the bundle is damaged")
        raise BundleError("this is not a bundle", "name a file `.sbb` that `sbc compile` wrote")
    version = int(head[3])
    if version > VERSION:
        raise BundleError(f"the bundle has format {version}, this program reads {VERSION}", "use a newer `sbc`")
    address = f"sha256:{head[1].decode()}"
    if content_address(b"{" + data[head.start(2) :]) != address:
        cut = "" if data.endswith(b"}\n") else "it is cut short, or "
        raise BundleError(f"the content does not match its address: {cut}it was changed after it was compiled")
    members = _parse(data)
    del members["address"], members["bundle"]
    return address, members


def _parse(data: bytes) -> dict[str, Any]:
    _check_depth(data)
    try:
        value = json.loads(data.decode(), object_pairs_hook=_object, parse_float=_no_float, parse_constant=_no_float)
        same = canonical(value) + b"\n" == data
    except BundleError:
        raise
    except (ValueError, RecursionError):
        # Not chained: parsers word this differently from version to version.
        raise BundleError("the bundle is not a JSON document") from None
    if not same:
        raise BundleError("the bundle is not in canonical form")
    return value


def _check_depth(data: bytes) -> None:
    """Bound the nesting before the parser recurses: take the innermost brackets away, one layer at a time."""
    rest = _STRING.sub(b"", data)
    for _ in range(MAX_DEPTH):
        rest, changed = _INNERMOST.subn(b"", rest)
        if not changed:
            break
    if b"[" in rest or b"{" in rest:
        raise BundleError(f"the bundle nests deeper than {MAX_DEPTH} levels, or its brackets do not match")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BundleError(f"the key {key!r} stands twice in one object")
            seen.add(key)
    return made


def _no_float(text: str) -> object:
    raise BundleError(f"{text} is not an integer")

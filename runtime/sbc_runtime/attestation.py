"""The sandbox bypass attestation: an administrator's word that one run may do without a sandbox on a Windows host.

A JSON object of exactly the fields below, all texts. Signed is

    HMAC-SHA256(key, "sbc sandbox bypass attestation 1\\n" and the canonical JSON of all fields but the signature)

Canonical: members sorted by name, no blanks, UTF-8, escapes only for `"` and `\\` (what else JSON escapes is refused):
RFC 8785's form of such an object. The key is text of 64 to 1024 hexadecimal digits, 32 random bytes or more, in the
environment variable `SBC_ADMIN_KEY`; no message, argument or environment of another process ever holds it.

The form of a field is checked first, then the signature, and only then is anything acted on.
"""

import hmac
import json
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime

from sbc_runtime.environment import ADMIN_KEY
from sbc_runtime.records import NamedTuple

LIFE = 3600
"""The longest life, in seconds: `expiresAt` less `timestamp`."""

SKEW = 60
"""How far, in seconds, the signer's clock may be ahead of this host's."""

PLATFORM = "win32"

_DOMAIN = b"sbc sandbox bypass attestation 1\n"
_LARGEST = 16 << 10
_KEY = re.compile(r"(?:[0-9A-Fa-f]{2}){32,512}")
_COMMIT = r"(?:[0-9a-f]{40}|[0-9a-f]{64})"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters that a reader does not see, or that stand for nothing."""


class _Form(NamedTuple):
    """What a field looks like: a pattern for the whole of it, at most so many characters, and its words for people."""

    pattern: str
    most: int
    words: str


_FORMS = {
    "installationId": _Form(r"[0-9a-f]{64}", 64, "64 hexadecimal digits in lower case"),
    "repositoryRootCommit": _Form(
        f"{_COMMIT}(?:,{_COMMIT})*", 2048, "the ids of the root commits, sorted, with commas"
    ),
    "repositoryOrigin": _Form(r".+", 2048, "text of 1 to 2048 visible characters"),
    "repositoryPath": _Form(r".+", 4096, "text of 1 to 4096 visible characters"),
    "nonce": _Form(r"[A-Za-z0-9_-]{32,128}", 128, "32 to 128 letters, digits, `_` and `-`"),
    "runId": _Form(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", 64, "1 to 64 letters, digits, `.`, `_` and `-`"),
    "acknowledgedPlatform": _Form(r".+", 32, f"`{PLATFORM}`"),
    "authorizedBy": _Form(r".+", 256, "text of 1 to 256 visible characters"),
    "timestamp": _Form(_TIME, 20, "a time of UTC as `2026-01-31T09:05:00Z`"),
    "expiresAt": _Form(_TIME, 20, "a time of UTC as `2026-01-31T09:05:00Z`"),
    "signature": _Form(r"[0-9a-f]{64}", 64, "64 hexadecimal digits in lower case"),
}
FIELDS = tuple(_FORMS)
SIGNED = FIELDS[:-1]


class Refused(Exception):
    """An attestation is not accepted: the field that is at fault (or `attestation`, `SBC_ADMIN_KEY`), and why."""

    def __init__(self, field: str, why: str) -> None:
        self.field = field
        self.why = why
        super().__init__(f"`{field}` {why}")


class Attestation:
    """An attestation whose fields have the right form; nothing is known of their truth. Times in seconds since 1970."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self.timestamp = _seconds(texts, "timestamp")
        self.expires_at = _seconds(texts, "expiresAt")

    def __getitem__(self, field: str) -> str:
        return self._texts[field]


class Place(NamedTuple):
    """Where an attestation is to hold: this host's installation id, and the repository's root commits, origin, path."""

    installation_id: str
    root_commit: str
    origin: str
    path: str

    def fields(self) -> dict[str, str]:
        """Give it as fields of an attestation."""
        return dict(zip(FIELDS[:4], self, strict=True))


def admin_key(environ: Mapping[str, str]) -> bytes:
    """Read the key; `Refused`, which never holds any of it, where there is none, or it is too short."""
    text = environ.get(ADMIN_KEY, "")
    if not text:
        raise Refused(ADMIN_KEY, "is not set")
    if not _KEY.fullmatch(text):
        raise Refused(ADMIN_KEY, "is no key: 64 to 1024 hexadecimal digits are needed, an even number")
    return bytes.fromhex(text)


def sign(fields: Mapping[str, str], key: bytes) -> bytes:
    """Make an attestation of the ten fields that are signed; `Refused` where it could never be accepted."""
    if len(key) < 32:
        raise Refused(ADMIN_KEY, "is no key: 32 bytes at least are needed")
    members = dict(fields)
    if "signature" in members:
        raise Refused("signature", "is not among the fields that are signed")
    made = _checked({**members, "signature": "0" * 64})
    check_form_of_life(made)
    if made["acknowledgedPlatform"] != PLATFORM:
        raise Refused("acknowledgedPlatform", f"is not `{PLATFORM}`")
    return _canonical({**members, "signature": _signature(made, key)}) + b"\n"


def read(data: bytes) -> Attestation:
    """Read an attestation strictly: exactly these fields, each once, each of its form. `Refused`."""
    if len(data) > _LARGEST:
        raise Refused("attestation", f"has more than {_LARGEST} bytes")
    try:
        value: object = json.loads(data.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Refused("attestation", "is not a JSON object in UTF-8") from None
    if not isinstance(value, _Members):
        raise Refused("attestation", "is not a JSON object in UTF-8")
    return _checked(value)


def verify(one: Attestation, key: bytes) -> None:
    """Compare the signature, in constant time; `Refused`."""
    if not hmac.compare_digest(_signature(one, key), one["signature"]):
        raise Refused("signature", "is not that of these fields with this host's key")


def check_time(one: Attestation, now: float) -> None:
    """Check that it is for this platform and holds now (seconds since 1970); `Refused`."""
    if one["acknowledgedPlatform"] != PLATFORM:
        raise Refused("acknowledgedPlatform", f"is not `{PLATFORM}`")
    check_form_of_life(one)
    if not one.timestamp <= now + SKEW:
        raise Refused("timestamp", "is in the future")
    if not now < one.expires_at:
        raise Refused("expiresAt", "has passed")


def check_form_of_life(one: Attestation) -> None:
    """Check that it lives, and no longer than may be; `Refused`."""
    if not 0 < one.expires_at - one.timestamp <= LIFE:
        raise Refused("expiresAt", f"is not 1 to {LIFE} seconds after `timestamp`")


def check_place(one: Attestation, here: Place) -> None:
    """Compare it with this host and repository, in constant time; `Refused` for the first field that differs."""
    for field, value in here.fields().items():
        if not hmac.compare_digest(one[field].encode(), value.encode("utf-8", "surrogatepass")):
            raise Refused(field, f"is another here: `{_printable(value)}`")


class _Members(dict[str, object]):
    """An object of the document."""


def _once(pairs: list[tuple[str, object]]) -> _Members:
    made = _Members(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(_printable(twice), "stands twice")
    return made


def _checked(members: Mapping[str, object]) -> Attestation:
    for name in members:
        if name not in _FORMS:
            raise Refused(_printable(name), "is no field of an attestation")
    texts: dict[str, str] = {}
    for field, form in _FORMS.items():
        if field not in members:
            raise Refused(field, "is missing")
        value = members[field]
        if not isinstance(value, str) or len(value) > form.most or not _seen(value):
            raise Refused(field, f"is not {form.words}")
        if not re.fullmatch(form.pattern, value):
            raise Refused(field, f"is not {form.words}")
        texts[field] = value
    return Attestation(texts)


def _seen(value: str) -> bool:
    return not any(unicodedata.category(one) in _UNSEEN for one in value)


def _seconds(texts: Mapping[str, str], field: str) -> int:
    numbers = [int(one) for one in re.findall("[0-9]+", texts[field])]
    try:
        return int(datetime(*numbers, tzinfo=UTC).timestamp())  # type: ignore[arg-type]
    except ValueError:
        raise Refused(field, "is no time that there is") from None


def _signature(one: Attestation, key: bytes) -> str:
    signed = {field: one[field] for field in SIGNED}
    return hmac.digest(key, _DOMAIN + _canonical(signed), "sha256").hex()


def _canonical(members: Mapping[str, object]) -> bytes:
    return json.dumps(members, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _printable(text: str) -> str:
    short = text[:200]
    return short if _seen(short) else ascii(short)[1:-1]

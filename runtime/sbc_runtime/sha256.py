"""SHA-256 without OpenSSL, which `hashlib` loads: that would cost more than all that is hashed here."""

from collections.abc import Callable

from sbc_runtime.words import Any

_HOMES = ("_sha2", "_sha256", "hashlib")
"""Where the interpreter has it: its own code from Python 3.12 on, and before; `hashlib` where it was built without."""


def _implementation() -> Callable[[bytes], Any]:
    for home in _HOMES:
        try:
            return __import__(home).sha256
        except ImportError:
            continue
    raise ImportError("this Python has no SHA-256")


_sha256 = _implementation()


def sha256_hex(data: bytes) -> str:
    """Give the SHA-256 of bytes, in hex."""
    return _sha256(data).hexdigest()

"""Carries records between processes of this program, as the interpreter's own form of plain values (marshal).

Both ends are this program's, run by one interpreter, and neither reads what a command of a sandbox could have written.
"""

import marshal
from types import ModuleType

from sbc_runtime.words import Any


class Carrier:
    """Packs and unpacks values that are made of records of some modules, and of plain values."""

    def __init__(self, *modules: ModuleType) -> None:
        self._kinds: dict[str, Any] = {
            name: one for module in modules for name, one in vars(module).items() if hasattr(one, "_fields")
        }

    def pack(self, value: object) -> bytes:
        """Give a value as bytes."""
        return marshal.dumps(_plain(value))

    def unpack(self, data: bytes) -> Any:  # noqa: ANN401 (what was packed)
        """Give what was packed; `ValueError` where the bytes are not whole."""
        try:
            return self._made(marshal.loads(data))  # noqa: S302 (written by this program)
        except (EOFError, TypeError, KeyError) as error:
            raise ValueError(str(error)) from None

    def _made(self, value: Any) -> Any:  # noqa: ANN401 (as above)
        kind: Any = value.__class__
        if kind is tuple:
            return tuple([self._made(one) for one in value])
        if kind is list:
            return self._kinds[value[0]](*[self._made(one) for one in value[1:]])
        return value


def _plain(value: Any) -> Any:  # noqa: ANN401 (as above)
    """Give a record as a list that begins with its name; lists as such are nowhere in records."""
    kind: Any = value.__class__
    if kind is tuple:
        return tuple([_plain(one) for one in value])
    if hasattr(kind, "_fields"):
        return [kind.__name__, *[_plain(one) for one in value]]
    return value

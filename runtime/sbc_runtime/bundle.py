"""The bundle (`.sbb`): everything that one profile compiles to, in one file that proves itself whole.

`encode` gives the one spelling of a bundle as bytes, `decode` reads exactly that spelling and refuses all else with
`BundleError`: damaged, cut short, newer, edited by hand, a filter that the kernel would not take, a plan that
contradicts itself. `bundle.schema.json` describes the document for other programs.
"""

import re

from sbc_runtime.arch import ARCHES
from sbc_runtime.arch_test import lets_any_abi_through
from sbc_runtime.canonical import BundleError, seal, unseal
from sbc_runtime.codec import BOOLEAN, BYTES, Codec, integer, listed, optional, record, text, union, word
from sbc_runtime.contents import Bundle, Bwrap, Coverage, Filter, Loss, Param, Row, Sbpl, SourceFile
from sbc_runtime.instruction import MAX_INSTRUCTIONS, SIZE
from sbc_runtime.plan import Path
from sbc_runtime.plan_check import check as check_plan
from sbc_runtime.plan_check import spelled_fault, statements
from sbc_runtime.plan_codec import MAX_AMOUNT, NAME, ON, PLAIN, PLAN, STATEMENT
from sbc_runtime.sha256 import sha256_hex
from sbc_runtime.verifier import Refused, verify_bytes
from sbc_runtime.words import Any

__all__ = ["Bundle", "BundleError", "decode", "encode"]

_HEX = re.compile(r"[0-9a-f]{64}")


def _hex_fault(value: str) -> str | None:
    return None if _HEX.fullmatch(value) else "is no SHA-256 in hex"


def _source_fault(value: str) -> str | None:
    if value.startswith(("/", "\\")) or "\0" in value or not value:
        return "is not a relative name"
    return None


def _filter_fault(value: Filter) -> str | None:
    """Check a filter against itself, the table of ABIs and the kernel's rules."""
    arches = [ARCHES[name] for name in value.abis if name in ARCHES]
    if len(arches) != len(value.abis) or not arches:
        return f"is for an ABI that this program does not know ({'+'.join(value.abis)})"
    if len({arch.kernel for arch in arches}) != 1 or {arch.byte_order for arch in arches} != {value.byte_order}:
        return "joins ABIs that no kernel serves together"
    if value.audit != tuple(arch.audit for arch in arches):
        return "has other audit values than its ABIs"
    if value.instructions * SIZE != len(value.program) or sha256_hex(value.program) != value.sha256:
        return "is not what its length and its SHA-256 say"
    try:
        program = verify_bytes(value.program, value.byte_order)
    except Refused as refused:
        return f"would be refused by the kernel: {refused}"
    return "lets calls of every ABI through: it never tests `arch`" if lets_any_abi_through(program) else None


def _sbpl_fault(value: Sbpl) -> str | None:
    return None if (value.text is None) == (value.why is not None) else "has a text or a reason why not"


def _bwrap_fault(value: Bwrap) -> str | None:
    return None if (value.arguments is None) == (value.why is not None) else "has arguments or a reason why not"


def _is_covered(value: Bundle) -> str | None:
    rows = {row.statement for row in value.coverage.rows}
    missing = next((one for one in statements(value.plan) if one not in rows), None)
    return missing and f"has no row for `{missing.text}` ({missing.where()}) in its coverage table"


def _coverage_fault(value: Coverage) -> str | None:
    if len(set(value.targets)) != len(value.targets):
        return "names a target twice"
    uneven = any(len(row.states) != len(value.targets) for row in value.rows)
    return "has a row of another length than its head" if uneven else None


def _whole_fault(value: Bundle) -> str | None:
    names = [param.name for param in value.params]
    if len(set(names)) != len(names):
        return "declares a parameter twice"
    abis = [name for one in value.filters or () for name in one.abis]
    if len(set(abis)) != len(abis):
        return "has two filters for one ABI"
    if value.filters == ():
        return "has an empty list of filters: `null` says that there is none"
    check_plan(value.plan, value.params)
    return _is_covered(value)


def _param_fault(value: Param) -> str | None:
    if value.default is None:
        return None
    if isinstance(value.default, int) != (value.type in {"size", "duration", "integer"}):
        return "has a default of another type"
    if value.type == "text" or isinstance(value.default, int):
        return None
    wrong = spelled_fault(Path(None, value.default))
    return wrong and f"has a default that {wrong}"


_DEFAULT = union(
    (int, lambda value: type(value) is int, integer(0, MAX_AMOUNT)), (str, lambda value: isinstance(value, str), PLAIN)
)
_STATE = word("enforced", "narrower", "wider", "not applicable", "not written", "unread", "left to the runtime")
_HEX_TEXT = text(_hex_fault, pattern="^[0-9a-f]{64}$")
_FILTER = record(
    Filter,
    _filter_fault,
    abis=listed(word(*ARCHES)),
    byte_order=word("little", "big"),
    audit=listed(integer(0, 2**32 - 1)),
    instructions=integer(1, MAX_INSTRUCTIONS),
    sha256=_HEX_TEXT,
    program=BYTES,
)
_PARAM = record(
    Param,
    _param_fault,
    name=NAME,
    type=word("dir", "file", "path", "text", "size", "duration", "integer"),
    default=optional(_DEFAULT),
)
BUNDLE: Codec[Bundle] = record(
    Bundle,
    _whole_fault,
    profile=NAME,
    compiler=PLAIN,
    sources=listed(record(SourceFile, name=text(_source_fault), sha256=_HEX_TEXT)),
    params=listed(_PARAM),
    filters=optional(listed(_FILTER)),
    sbpl=record(Sbpl, _sbpl_fault, text=optional(PLAIN), why=optional(text())),
    bwrap=record(Bwrap, _bwrap_fault, arguments=optional(listed(PLAIN)), why=optional(text())),
    plan=PLAN,
    losses=listed(
        record(
            Loss,
            target=NAME,
            direction=word("narrower", "wider"),
            statement=STATEMENT,
            why=text(),
            deferred=BOOLEAN,
        )
    ),
    coverage=record(
        Coverage,
        _coverage_fault,
        targets=listed(NAME),
        rows=listed(record(Row, statement=STATEMENT, on=ON, states=listed(_STATE))),
    ),
    docs=text(),
    notes=listed(text()),
)


def encode(bundle: Bundle) -> bytes:
    """Give the bytes of a bundle, its content address made anew."""
    members: Any = BUNDLE.write(bundle)
    return seal(members)


def decode(data: bytes) -> Bundle:
    """Read a bundle; `BundleError` for everything that `encode` does not make."""
    address, members = unseal(data)
    return BUNDLE.read(members, "bundle")._replace(address=address)

"""The enforcement digest: what a bundle enforces on one machine's kind, as one value.

It covers the filter's bytes for one ABI, the plan (paths, masks, network, environment, identity) and the limits, of
one operating system, and the parameters that they may name. A changed deny-list changes it. What changes nothing that
is enforced does not: reasons, comments, lines, documentation, names of files, the order of statements whose order has
no meaning, other targets. Where a `read` has an `identity`, that stands in place of its path.
"""

import re

from sbc_runtime.canonical import canonical
from sbc_runtime.contents import Bundle, Filter
from sbc_runtime.plan_codec import PLAN
from sbc_runtime.sha256 import sha256_hex
from sbc_runtime.words import Any, cast

_DOMAIN = b"sbc enforcement 1\n"

# Not compiled here: only macOS needs them.
_SBPL_COMMENT = r'("[^"\\]*(?:\\.[^"\\]*)*")|;[^\n]*'
_BLANKS = r"[ \t\r\n]+"


def filter_for(bundle: Bundle, abi: str) -> Filter | None:
    """Give the filter that serves an ABI, or None where the bundle has none."""
    return next((one for one in bundle.filters or () if abi in one.abis), None)


def enforcement_digest(bundle: Bundle, abi: str | None, system: str = "linux") -> str:
    """Give the digest for one ABI of `linux`, or for `macos`, where the SBPL text stands in the filter's place.

    On `windows` nothing stands there.

    `KeyError` where the bundle has filters, but none for the ABI.
    """
    parts = enforced(bundle, abi, system)
    return "sha256:" + sha256_hex(_DOMAIN + canonical(parts))


def enforced(bundle: Bundle, abi: str | None, system: str = "linux") -> dict[str, Any]:
    """Give what the digest is made of, as a JSON value."""
    found: dict[str, Any] = {"system": system, "filter": None, "sbpl": None}
    if system == "macos":
        found["sbpl"] = None if bundle.sbpl.text is None else _without_comments(bundle.sbpl.text)
    elif system != "windows" and bundle.filters is not None:
        if abi is None or (one := filter_for(bundle, abi)) is None:
            raise KeyError(f"the bundle has no filter for {abi}")
        found["filter"] = {"abi": abi, "byte_order": one.byte_order, "sha256": sha256_hex(one.program)}
    found["plan"] = _settled(PLAN.write(bundle.plan), system)
    found["params"] = sorted(([*param] for param in bundle.params), key=canonical)
    return found


def _settled(value: object, system: str) -> object:
    """Drop statements and what is for another system; name identities; sort: no list of the plan has an order."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        return sorted((_settled(item, system) for item in items if not _elsewhere(item, system)), key=canonical)
    if not isinstance(value, dict):
        return value
    members = cast("dict[str, object]", value)
    made = {key: _settled(member, system) for key, member in members.items() if key not in {"statement", "on"}}
    if made.get("identity") is not None and "path" in made:
        made["path"] = None
    return made


def _elsewhere(item: object, system: str) -> bool:
    return isinstance(item, dict) and cast("dict[str, object]", item).get("on") not in {None, system}


def _without_comments(text: str) -> str:
    kept = re.sub(_SBPL_COMMENT, lambda match: match[1] or "", text, flags=re.DOTALL)
    # Blanks between strings only: inside one they mean something.
    pieces = re.split(r'("[^"\\]*(?:\\.[^"\\]*)*")', kept, flags=re.DOTALL)
    return "".join(piece if index % 2 else re.sub(_BLANKS, " ", piece) for index, piece in enumerate(pieces)).strip()

"""The JSON Schema of a bundle, made from its codec; `bundle.schema.json` is what this gives."""

import json

from sbc_runtime.bundle import BUNDLE
from sbc_runtime.canonical import FORMAT, VERSION
from sbc_runtime.plan_codec import PATH, REFERENCE, STATEMENT
from sbc_runtime.words import Any, cast

_SHARED = {"statement": STATEMENT.schema, "path": PATH.schema, "parameter": REFERENCE.schema}


def schema() -> dict[str, Any]:
    """Give the JSON Schema of the document."""
    properties = {
        "address": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
        "bundle": {"const": f"{FORMAT}/{VERSION}"},
        **BUNDLE.schema["properties"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The bundle of a sandbox profile (.sbb)",
        "type": "object",
        "properties": _referring(properties),
        "required": list(properties),
        "additionalProperties": False,
        "$defs": _SHARED,
    }


def text() -> str:
    """Give it as the published file."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"


def _referring(value: object) -> object:
    """Replace the forms that stand in many places by references."""
    for name, shared in _SHARED.items():
        if value == shared:
            return {"$ref": f"#/$defs/{name}"}
    if isinstance(value, dict):
        return {key: _referring(member) for key, member in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_referring(item) for item in cast("list[object]", value)]
    return value

"""The document: one spelling, described by its schema, the same everywhere."""

import json
import subprocess
import sys
from pathlib import Path as File
from typing import Any

import jsonschema

from sbc_runtime import bundle as bundles
from sbc_runtime.bundle import decode, encode
from sbc_runtime.bundle_schema import text
from sbc_runtime.plan import Path
from tests.bundle.samples import made

RUNTIME = File(bundles.__file__).parent
SCHEMA = RUNTIME / "bundle.schema.json"


def test_what_is_encoded_is_decoded() -> None:
    bundle = made()
    decoded = decode(encode(bundle))
    assert decoded._replace(address="") == bundle
    assert decoded.address.startswith("sha256:")
    assert encode(decoded) == encode(bundle)


def test_the_document_is_canonical() -> None:
    data = encode(made())
    value: Any = json.loads(data)
    again = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"
    assert again.encode() == data
    assert data.startswith(b'{"address":"sha256:')
    assert value["bundle"] == "sbc-bundle/1"
    assert list(value) == sorted(value)


def test_a_path_that_is_not_utf_8_is_held() -> None:
    bundle = made()
    rule = bundle.plan.rules[0]._replace(path=Path(None, "/a\udcff"))
    odd = bundle._replace(plan=bundle.plan._replace(rules=(rule,)))
    data = encode(odd)
    assert b"/a\\udcff" in data
    assert decode(data).plan.rules[0].path.rest.encode("utf-8", "surrogateescape") == b"/a\xff"


def test_no_filter_is_said_out_loud() -> None:
    data = encode(made()._replace(filters=None))
    assert b'"filters":null' in data
    assert decode(data).filters is None


def test_the_published_schema_is_the_codec_s() -> None:
    assert SCHEMA.read_text("utf-8") == text()


def test_bundles_validate_against_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    validator.check_schema(validator.schema)
    for bundle in (made(), made()._replace(filters=None)):
        value: Any = json.loads(encode(bundle))
        assert not list(validator.iter_errors(value))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        value["more"] = 1
        assert list(validator.iter_errors(value))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def test_golden_address() -> None:
    """One fixed document: a changed format, domain or spelling shows here, on every Python version."""
    bundle = made()
    fixed = bundle._replace(filters=None, notes=('ä \u2028 \x7f \U0001f512 "\\/',))
    assert decode(encode(fixed)).address == "sha256:04037b3ae5d265af2948c1ebefb28017ac4db7eef745cc9b6f9a81df3558f037"


def test_the_runtime_imports_little() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import sbc_runtime.loader; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(RUNTIME.parent)], capture_output=True, text=True, check=True
    )
    heavy = {
        "sbc",
        "lark",
        "jinja2",
        "dataclasses",
        "pathlib",
        "base64",
        "inspect",
        "subprocess",
        "tempfile",
        "logging",
    }
    assert not heavy & set(done.stdout.split())

"""Attestations: their form, their signature, their life."""

import json
import logging
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc_runtime.attestation import (
    FIELDS,
    LIFE,
    SIGNED,
    SKEW,
    Place,
    Refused,
    admin_key,
    check_place,
    check_time,
    read,
    sign,
    verify,
)
from tests.windows.support import KEY, KEY_TEXT, NOW, fields, stamp

HERE = Place(*(fields()[name] for name in SIGNED[:4]))


def accept(data: bytes, key: bytes = KEY, now: float = NOW) -> None:
    """Do what a host does with an attestation, up to its nonce."""
    one = read(data)
    verify(one, key)
    check_time(one, now)
    check_place(one, HERE)


def document(**other: object) -> bytes:
    made = json.loads(sign(fields(), KEY))
    return json.dumps({**made, **other}).encode()


def resigned(**other: str) -> bytes:
    return sign(fields(**other), KEY)


def refused_field(data: bytes, now: float = NOW) -> str:
    with pytest.raises(Refused) as told:
        accept(data, now=now)
    assert KEY_TEXT not in str(told.value)
    return told.value.field


def test_a_signed_one_is_accepted() -> None:
    accept(resigned())
    accept(document())


def test_the_spelling_of_the_document_does_not_matter_and_the_values_do() -> None:
    made = json.loads(resigned())
    turned = {name: made[name] for name in reversed(FIELDS)}
    accept(json.dumps(turned, indent=4).encode())
    accept(json.dumps(turned).encode().replace(b"win32", b"\\u0077in32"))


@pytest.mark.parametrize("by", ["A. Administrator", 'Änne "q" \\ /\u5c71 \U0001f600 <e\u0301>'])
def test_the_signature_is_the_documented_one(by: str) -> None:
    import hashlib
    import hmac

    members = sorted(fields(authorizedBy=by).items())
    # Escapes only for `"` and `\`; every other character is UTF-8.
    plain = ((name, value.replace("\\", "\\\\").replace('"', '\\"')) for name, value in members)
    body = "{" + ",".join(f'"{name}":"{value}"' for name, value in plain) + "}"
    expected = hmac.new(KEY, b"sbc sandbox bypass attestation 1\n" + body.encode(), hashlib.sha256).hexdigest()
    assert json.loads(resigned(authorizedBy=by))["signature"] == expected
    accept(resigned(authorizedBy=by))


@pytest.mark.parametrize(
    ("field", "most"), [("authorizedBy", 256), ("repositoryOrigin", 2048), ("repositoryPath", 4096)]
)
def test_the_longest_text_of_a_field(field: str, most: int) -> None:
    read(resigned(**{field: "x" * most}))
    with pytest.raises(Refused, match=field):
        resigned(**{field: "x" * (most + 1)})


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_needed_and_is_text_and_stands_once(field: str) -> None:
    made = json.loads(resigned())
    assert refused_field(json.dumps({name: made[name] for name in FIELDS if name != field}).encode()) == field
    others: list[object] = [None, 1, True, 1.5, [], {}, [made[field]], "", made[field] * 5000]
    for wrong in others:
        assert refused_field(json.dumps({**made, field: wrong}).encode()[: 16 << 10]) in {field, "attestation"}
    twice = json.dumps(made)[:-1] + f', "{field}": {json.dumps(made[field])}}}'
    assert refused_field(twice.encode()) == field


@pytest.mark.parametrize("field", SIGNED)
@pytest.mark.parametrize(
    "unseen", ["\0", "\n", "\x7f", "\u200b", "\u202e", "\ufeff", "\ud800", "\u2028", "\uffff", "\ue000"]
)
def test_what_a_reader_does_not_see_is_in_no_field(field: str, unseen: str) -> None:
    text = fields()[field]
    for wrong in (unseen + text[1:], text[:-1] + unseen, text + unseen):
        assert refused_field(document(**{field: wrong})) == field
        with pytest.raises(Refused, match=field):
            resigned(**{field: wrong})


def test_unknown_fields_and_other_documents_are_refused() -> None:
    assert refused_field(document(note="x")) == "note"
    assert refused_field(document(**{"nonce ": "n" * 32})) == "nonce "
    whole = resigned()
    for wrong in (
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"{",
        whole[:-3],
        whole + b"x",
        whole * 2,
        b"\xef\xbb\xbf" + whole,
        b"\xff",
    ):
        assert refused_field(wrong) == "attestation"
    for wrong in (b"[" * 16000, b'{"a":' * 3000, b"1" * 10000, whole + b" " * 16384):
        assert refused_field(wrong) in {"attestation", "a"}
    assert refused_field(b"{}") == FIELDS[0]


@given(data=st.data())
def test_any_change_of_one_field_breaks_the_signature_or_the_form(data: st.DataObject) -> None:
    """Law: what the key did not sign is refused, and the refusal names the signature, or the field without form."""
    field = data.draw(st.sampled_from(FIELDS))
    made = json.loads(resigned())
    before: str = made[field]
    place = data.draw(st.integers(0, len(before) - 1))
    made[field] = before[:place] + data.draw(st.characters(exclude_characters=before[place])) + before[place + 1 :]
    assert refused_field(json.dumps(made).encode()) in {"signature", field}


@given(data=st.data())
def test_any_flipped_bit_is_refused(data: st.DataObject) -> None:
    whole = bytearray(resigned())
    place = data.draw(st.integers(0, len(whole) - 2))  # the newline at the end is not of the document
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(Refused):
        accept(bytes(whole))


OTHER = {
    "installationId": "ac" * 32,
    "repositoryRootCommit": "ce" * 20,
    "repositoryOrigin": "https://example.org/team/other.git",
    "repositoryPath": "C:\\trees\\One",
    "timestamp": stamp(NOW + SKEW + 1),
    "expiresAt": stamp(NOW),
}


@given(st.sampled_from(sorted(OTHER)))
def test_what_the_key_signed_and_does_not_hold_here_is_refused_by_its_name(field: str) -> None:
    assert refused_field(resigned(**{field: OTHER[field]})) == field


@given(st.sampled_from(SIGNED[:4]), st.data())
def test_a_place_that_differs_anywhere_is_refused_by_its_name(field: str, data: st.DataObject) -> None:
    text = fields()[field]
    place = data.draw(st.integers(0, len(text) - 1))
    other = "0" if text[place] != "0" else "1"
    assert refused_field(resigned(**{field: text[:place] + other + text[place + 1 :]})) == field


def test_the_signature_is_looked_at_before_anything_is_acted_on() -> None:
    wrong = json.loads(resigned())
    wrong |= {"expiresAt": stamp(NOW - 5), "installationId": "00" * 32, "acknowledgedPlatform": "linux"}
    assert refused_field(json.dumps(wrong).encode()) == "signature"


def test_another_key_is_another_signature() -> None:
    with pytest.raises(Refused, match="signature"):
        accept(resigned(), bytes(32))
    upper = json.loads(resigned())
    upper["signature"] = upper["signature"].upper()
    assert refused_field(json.dumps(upper).encode()) == "signature"


def test_it_lives_an_hour_at_most_and_only_then() -> None:
    longest = resigned(timestamp=stamp(NOW), expiresAt=stamp(NOW + LIFE))
    accept(longest, now=NOW - SKEW)
    accept(longest, now=NOW + LIFE - 0.001)
    assert refused_field(longest, now=NOW - SKEW - 1) == "timestamp"
    assert refused_field(longest, now=NOW + LIFE) == "expiresAt"
    assert refused_field(longest, now=float("nan")) == "timestamp"
    for end in (NOW + LIFE + 1, NOW, NOW - 1):
        with pytest.raises(Refused, match="expiresAt"):
            resigned(timestamp=stamp(NOW), expiresAt=stamp(end))


@pytest.mark.parametrize(
    "wrong",
    [
        "2030-03-17T17:46:40+00:00", "2030-03-17 17:46:40Z", "2030-03-17T17:46:40z", "2030-03-17T17:46:40.0Z",
        "2030-02-30T00:00:00Z", "2030-03-17T24:00:00Z", "2030-03-17T23:59:60Z", "0000-01-01T00:00:00Z",
        "2030-3-17T17:46:40Z", "1900000000", " 2030-03-17T17:46:40Z", "2030-03-17T17:46:40Z\n",
        "٢030-03-17T17:46:40Z",
    ],
)  # fmt: skip
@pytest.mark.parametrize("field", ["timestamp", "expiresAt"])
def test_times_have_one_form(field: str, wrong: str) -> None:
    assert refused_field(document(**{field: wrong})) == field


def test_only_windows_can_be_acknowledged() -> None:
    for other in ("linux", "Win32", "win32 ", "darwin"):
        with pytest.raises(Refused, match="acknowledgedPlatform"):
            resigned(acknowledgedPlatform=other)
        assert refused_field(_signed_anyway(acknowledgedPlatform=other)) == "acknowledgedPlatform"


def test_a_life_that_is_too_long_is_refused_though_it_was_signed() -> None:
    assert refused_field(_signed_anyway(expiresAt=stamp(NOW - 60 + LIFE + 1))) == "expiresAt"


def _signed_anyway(**other: str) -> bytes:
    """Sign what `sign` would not."""
    import hmac

    body = json.dumps(fields(**other), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    signature = hmac.digest(KEY, b"sbc sandbox bypass attestation 1\n" + body, "sha256").hex()
    return json.dumps({**fields(**other), "signature": signature}).encode()


@pytest.mark.parametrize(
    "text", ["", "5a" * 31, "5a" * 32 + "5", "zz" * 32, " " + "5a" * 32, "5a" * 513, "0x" + "5a" * 32, "٥a" * 32]
)
def test_a_key_is_hexadecimal_and_long_and_never_told(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(Refused) as told:
        admin_key({"SBC_ADMIN_KEY": text})
    assert told.value.field == "SBC_ADMIN_KEY"
    shown = "".join(traceback.format_exception(told.value)) + caplog.text
    assert len(text) < 4 or text.strip() not in shown


def test_a_key_of_bytes() -> None:
    assert admin_key({"SBC_ADMIN_KEY": KEY_TEXT.upper()}) == KEY
    with pytest.raises(Refused, match="SBC_ADMIN_KEY"):
        sign(fields(), bytes(31))
    with pytest.raises(Refused, match="signature"):
        sign({**fields(), "signature": "0" * 64}, KEY)

"""What is not exactly an encoded bundle is refused, in words, and never with another exception."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc_runtime.bundle import BundleError, decode, encode
from sbc_runtime.canonical import MAX_BYTES, canonical, content_address, seal
from sbc_runtime.instruction import ABS, JEQ, JMP, LD, OFFSET_ARCH, OFFSET_NR, RET, Instruction, K, W, pack
from tests.bundle.changes import Change, again, remove, update
from tests.bundle.samples import made

DATA = encode(made())
HEAD = len('{"address":"sha256:') + 64 + len('",')


def members() -> dict[str, Any]:
    value: Any = json.loads(DATA)
    del value["address"], value["bundle"]
    return value


def sealed(rest: bytes) -> bytes:
    """Seal bytes as they are, also such as no encoder would write."""
    return b'{"address":"' + content_address(b"{" + rest).encode() + b'",' + rest


def changed(change: Change) -> bytes:
    value = members()
    change(value)
    return seal(value)


@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_every_changed_byte_is_refused(place: int, difference: int) -> None:
    mutant = bytearray(DATA)
    mutant[place] ^= difference
    with pytest.raises(BundleError):
        decode(bytes(mutant))


def test_every_flipped_bit_of_the_head_is_refused() -> None:
    for place in range(HEAD + 40):
        for bit in range(8):
            mutant = bytearray(DATA)
            mutant[place] ^= 1 << bit
            with pytest.raises(BundleError):
                decode(bytes(mutant))


@given(st.integers(0, len(DATA) - 1))
def test_every_shorter_bundle_is_refused(length: int) -> None:
    with pytest.raises(BundleError):
        decode(DATA[:length])


@given(st.binary(max_size=200))
def test_bytes_at_random_are_refused(data: bytes) -> None:
    with pytest.raises(BundleError):
        decode(data)
    with pytest.raises(BundleError):
        decode(sealed(b'"bundle":"sbc-bundle/1",' + data))
    with pytest.raises(BundleError):
        decode(DATA + data + b"\n")


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def places(value: object) -> list[Any]:
    """The keys or indices of a JSON value; none for what holds nothing."""
    if isinstance(value, list):
        return list(range(len(cast("list[object]", value))))
    return list(cast("dict[str, object]", value)) if isinstance(value, dict) else []


@given(st.data(), Json)
def test_any_other_value_at_any_place_is_refused_or_a_bundle(data: st.DataObject, value: object) -> None:
    """A well sealed document with one value replaced: typed reading finds it, or it is a bundle too."""
    root = members()
    outer: Any = root
    while True:
        key: Any = data.draw(st.sampled_from(places(outer)))
        if not places(outer[key]) or data.draw(st.booleans()):
            break
        outer = outer[key]
    outer[key] = value
    encoded = seal(root)
    try:
        decoded = decode(encoded)
    except BundleError:
        return
    assert encode(decoded) == encoded


def program(content: bytes) -> dict[str, Any]:
    return {
        "program": b64encode(content).decode(),
        "instructions": max(1, len(content) // 8),
        "sha256": sha256(content).hexdigest(),
    }


JUMP_OUT = bytes.fromhex("0500000009000000") + bytes.fromhex("060000000000ff7f")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (remove("plan"), "lacks the key `plan`"),
        (update("", more=1), "unknown key 'more'"),
        (update("", profile=1), "`bundle.profile` is not text"),
        (update("", profile="../x"), "is not a name"),
        (update("", filters=[]), "empty list of filters"),
        (again("filters 0"), "two filters for one ABI"),
        (update("filters 0", program="AAA"), "not base64"),
        (update("filters 0", program="é"), "not base64"),
        (update("filters 0", program="AAAAAAAAAAB="), "one spelling"),
        (update("filters 0", instructions=9), "its length"),
        (update("filters 0", sha256="0" * 64), "its SHA-256"),
        (update("filters 0", sha256="0" * 63), "no SHA-256"),
        (update("filters 0", **program(JUMP_OUT)), "refused by the kernel"),
        (update("filters 0", **program(b"\0" * 7)), "its length"),
        (update("filters 0", audit=[3221225534, 3221225534]), "audit values"),
        (update("filters 0", abis=["x86_64", "aarch64"]), "no kernel serves"),
        (update("filters 0", abis=["vax"]), "is none of"),
        (update("filters 0", byte_order="big"), "no kernel serves"),
        (update("plan rules 0", access="execute"), "is none of read, write, hide"),
        (update("plan rules 0", path={"base": None, "rest": "usr"}), "not absolute"),
        (update("plan rules 0", path={"base": None, "rest": "/usr/../etc"}), "not normalised"),
        (update("plan rules 0", path={"base": None, "rest": "/usr/"}), "not normalised"),
        (update("plan rules 0", path={"base": None, "rest": "/a//b"}), "not normalised"),
        (update("plan rules 0", path={"base": None, "rest": ""}), "not absolute"),
        (update("plan rules 0", path={"base": "workdir", "rest": "/"}), "not normalised"),
        (update("plan rules 0", path={"base": None, "rest": "/a\0b"}), "NUL"),
        (update("plan rules 0", path={"base": "nobody", "rest": ""}), "no parameter for paths"),
        (update("plan rules 0", path={"base": "budget", "rest": ""}), "no parameter for paths"),
        (update("plan rules 0", optional=1), "not true or false"),
        (update("plan rules 0", on="windows"), "is none of linux, macos"),
        (update("plan proc 0", entry="../sys"), "no entry of /proc"),
        (update("plan proc 0", entry="/sys"), "no entry of /proc"),
        (update("plan limits 0", value=0), "above zero"),
        (update("plan limits 0", value=True), "does not belong here"),
        (update("plan limits 0", value=2**63), "outside"),
        (update("plan limits 0", value={"param": "budget"}), "no parameter of type duration"),
        (update("plan identity 0", value=2**32 - 1), "outside"),
        (update("plan identity 0", value="root"), "is a number"),
        (update("plan identity 0", value={"first": 1, "last": 2}), "no range"),
        (update("plan identity 1", value={"first": 2, "last": 1}), "inverted"),
        (update("plan network allowances 0", port=65536), "outside"),
        (update("plan network allowances 1", path=None), "has a path"),
        (update("plan environment variables 0", name="A=B"), "name of a variable"),
        (update("plan environment variables 0", value="\0"), "NUL"),
        (update("sources 0", name="/root/x.sbx"), "not a relative name"),
        (again("params 0"), "declares a parameter twice"),
        (update("params 1", default="big"), "default of another type"),
        (update("sbpl", why=None), "a reason why not"),
        (update("coverage rows 0", states=["enforced"]), "another length"),
        (update("coverage rows 0", states=["fine"] * 3), "is none of"),
        (update("", notes="one"), "not an array"),
        (update("", docs=None), "`bundle.docs` is not text"),
    ],
)
def test_what_is_wrong_is_said(change: Change, words: str) -> None:
    with pytest.raises(BundleError, match=words):
        decode(changed(change))


def shows(path: str, place: str | None = None, access: str = "read", on: str | None = None) -> Change:
    at = None if place is None else {"base": None, "rest": place}
    return again("plan rules 0", access=access, path={"base": None, "rest": path}, place=at, on=on)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (shows("/proc"), "a /proc of its own"),
        (shows("/proc/1", "/p1"), "a /proc of its own"),
        (shows("/proc", "/hp", "write"), "a /proc of its own"),
        (shows("/proc/kcore", access="hide"), "a /proc of its own"),
        (shows("/srv", "/proc/self"), "a /proc of its own"),
        (shows("/dev"), "a /dev of its own"),
        (shows("/dev/shm", "/shm"), "a /dev of its own"),
        (shows("/srv", "/dev"), "a /dev of its own"),
        (shows("/dev", access="hide"), "a /dev of its own"),
        (shows("/sys/kernel", access="write"), "whole machine"),
        (shows("/", "/host"), "would be seen below it"),
        (shows("/", access="write"), "/sys would be writable"),
        (shows("/", access="hide"), "cannot be hidden"),
        (update("plan tmps 0", path={"base": None, "rest": "/proc"}), "a /proc of its own"),
        (update("plan tmps 0", path={"base": None, "rest": "/dev/shm"}), "a /dev of its own"),
    ],
)
def test_a_plan_that_shows_what_is_reserved_is_refused(change: Change, words: str) -> None:
    with pytest.raises(BundleError, match=words):
        decode(changed(change))


@pytest.mark.parametrize(
    "change", [shows("/"), shows("/sys"), shows("/dev/kvm", access="hide"), shows("/dev", on="macos")]
)
def test_what_is_not_reserved_passes(change: Change) -> None:
    decode(changed(change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (again("plan rules 0", access="write"), "something else of the same"),
        (shows("/opt/a", "/work"), "something else of the same"),
        (shows("/tmp"), "something else of the same"),
        (shows("/opt/a", "/tmp"), "something else of the same"),
        (shows("/opt/tools", "/other"), "something else of the same"),
        (again("plan rules 0", optional=False), "something else of the same"),
        (again("plan rules 0", noexec=True), "something else of the same"),
        (again("plan rules 0", identity="another"), "something else of the same"),
        (again("plan tmps 0", size=1), "something else of the same"),
        (again("plan roots 0", kind="host"), "something else of the same"),
        (again("plan roots 0", kind="host", on="macos"), "something else of the same"),
        (update("plan", roots=[]), "says nothing of `root` on linux"),
        (update("plan roots 0", on="linux"), "says nothing of `root` on macos"),
        (update("plan", devices=[]), "says nothing of `devices`"),
        (update("plan", start_in=[]), "says nothing of `start-in`"),
        (update("plan network", listed=False), "has no list"),
        (update("plan proc 0", entry="1/root"), "/proc/1/root is a process's"),
        (update("plan proc 0", entry="self"), "/proc/self is a process's"),
        (update("plan proc 0", entry="thread-self/fd"), "is a process's"),
        (update("plan rules 0", path={"base": None, "rest": "/a\nb"}), "newline"),
        (update("plan tmps 0", path={"base": "workdir", "rest": "/a\nb"}), "newline"),
        (update("plan network allowances 1", path={"base": None, "rest": "/a\nb"}), "newline"),
        (update("params 0", default="work"), "default that is not absolute"),
        (update("params 0", default="/work/../etc"), "default that is not normalised"),
        (update("params 0", default="/work/"), "default that is not normalised"),
        (update("params 0", default="/wo\nrk"), "default that holds a newline"),
        (update("params 1", default=0), "default of `budget` is zero"),
        (update("coverage", rows=[]), "has no row for `root private`"),
        (remove("coverage rows 1"), "has no row for `tmp /tmp"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(change: Change, words: str) -> None:
    with pytest.raises(BundleError, match=re.escape(words)):
        decode(changed(change))


def returns(*ret: int, load: int | None = None) -> bytes:
    head = b"" if load is None else pack((Instruction(LD | W | ABS, 0, 0, load),), "little")
    return head + pack(tuple(Instruction(RET | K, 0, 0, value) for value in ret), "little")


BY_NUMBER = pack(
    (
        Instruction(LD | W | ABS, 0, 0, OFFSET_ARCH),
        Instruction(LD | W | ABS, 0, 0, OFFSET_NR),
        Instruction(JMP | JEQ | K, 0, 1, 101),
        Instruction(RET | K, 0, 0, 0x80000000),
        Instruction(RET | K, 0, 0, 0x7FFF0000),
    ),
    "little",
)


@pytest.mark.parametrize(
    "content",
    [
        returns(0x7FFF0000),
        returns(0x7FFC0000),
        returns(0x7FFF0000, load=OFFSET_ARCH),
        returns(0x7FFF0000, load=OFFSET_NR),
        BY_NUMBER,
    ],
    ids=["allow", "log", "arch loaded and not tested", "number loaded", "only the number tested"],
)
def test_a_filter_that_does_not_test_the_abi_is_refused(content: bytes) -> None:
    with pytest.raises(BundleError, match="never tests `arch`"):
        decode(changed(update("filters 1", **program(content))))


def test_a_filter_that_lets_nothing_through_need_not_test_the_abi() -> None:
    decode(changed(update("filters 1", **program(returns(0x80000000)))))


REST = DATA[HEAD:]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a bundle"),
        (b"sbx 1\n", "not a bundle"),
        (DATA[:40], "head of the bundle is damaged"),
        (DATA[:-1], "cut short"),
        (DATA[:5000], "cut short"),
        (DATA.replace(b'"profile":"sample"', b'"profile":"simple"'), "changed after it was compiled"),
        (sealed(REST.replace(b"sbc-bundle/1", b"sbc-bundle/2")), "format 2, this program reads 1; use a newer"),
        (sealed(REST[:-1]), "canonical"),
        (sealed(REST + b"\n"), "canonical"),
        (sealed(REST.replace(b":1000}", b":1000 }")), "canonical"),
        (sealed(REST.replace(b":1000}", b":1e3}")), "not an integer"),
        (sealed(REST.replace(b":1000}", b":NaN}")), "not an integer"),
        (sealed(REST.replace(b":1000}", b":" + b"9" * 10_000 + b"}")), "not a JSON document"),
        (sealed(REST.replace(b"Secrets.", b"\\u0053ecrets.")), "canonical"),
        (sealed(REST.replace(b"Secrets.", b"\\ud800ecrets.")), "is not Unicode"),
        (sealed(REST.replace(b"Secrets.", b"\\udcc3\\udca9ecrets.")), "is not Unicode"),
        (sealed(REST.replace(b"Secrets.", b"\xffecrets.")), "not a JSON document"),
        (sealed(REST.replace(b"Secrets.", b"\0ecrets.")), "not a JSON document"),
        (sealed(REST.replace(b'"profile":', b'"plan":1,"profile":')), "'plan' stands twice"),
        (sealed(REST.replace(b'"docs":', b'"docs":' + b"[" * 100_000)), "nests deeper"),
        (sealed(REST.replace(b'"docs":', b'"docs":' + b"[" * 100_000 + b"]" * 100_000)), "nests deeper"),
        (b" " * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_other_bytes_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(BundleError, match=words):
        decode(data)


def test_a_bundle_that_is_too_large_is_not_written() -> None:
    with pytest.raises(BundleError, match="at most"):
        encode(made()._replace(docs="x" * MAX_BYTES))


def test_canonical_bytes_do_not_depend_on_the_order_of_keys() -> None:
    assert canonical({"b": 1, "a": {"d": 1, "c": 2}}) == canonical({"a": {"c": 2, "d": 1}, "b": 1})

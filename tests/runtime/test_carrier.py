"""Records between processes of the program: what is packed comes out the same, and half of it is an error."""

from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbc_runtime import loaded, messages
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Caller, Job, Options
from sbc_runtime.loader import for_machine
from sbc_runtime.scheduling import own
from sbc_runtime.wire import decode_job, encode_job
from tests.bundle.samples import made

TEXTS = st.text(st.characters(codec=None) | st.sampled_from("\udc80\udcff"), max_size=8)


def test_what_a_helper_gets_is_what_was_loaded() -> None:
    one = for_machine(made(), "linux", "x86_64", "little")
    sent = loaded.unpack(loaded.pack(one))
    assert sent.bundle.plan == one.bundle.plan
    assert (sent.bundle.params, sent.bundle.bwrap, sent.bundle.losses) == (
        one.bundle.params,
        one.bundle.bwrap,
        one.bundle.losses,
    )
    assert (sent.bundle.address, sent.bundle.profile) == (one.bundle.address, one.bundle.profile)
    assert sent[1:] == one[1:]


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS).map(tuple), st.dictionaries(TEXTS, TEXTS | st.integers(0, 2**63)), st.none() | st.integers(0))
def test_a_job_arrives_as_it_was(argv: tuple[str, ...], params: dict[str, str | int], timeout: int | None) -> None:
    caller = Caller("/", "/root", None, "/tmp", ((0, 1, 2),), own())
    job = Job("id", argv, params, (("A", "b"),), caller, Options(timeout=timeout, relied_on=("/a",)))
    assert decode_job(encode_job("sha256:0", job)) == ("sha256:0", job)


def test_half_of_a_job_is_an_error() -> None:
    whole = encode_job("sha256:0", Job("id", (), {}, (), Caller("/", "/", None, "/", (), own()), Options()))
    for end in range(len(whole)):
        with pytest.raises(ValueError, match=r"marshal|EOF"):
            decode_job(whole[:end])


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.lists(TEXTS.map(lambda text: text.replace("\0", "")), max_size=5))
def test_a_message_arrives_as_it_was(word: str, told: list[str]) -> None:
    here, there = messages.pair()
    with closing(here), closing(there):
        messages.send(there.fileno(), word.replace("\0", "") or "w", *told)
        seen = messages.receive(here)
    assert seen is not None
    assert (seen.word, seen.told) == (word.replace("\0", "") or "w", tuple(told))


def test_a_failure_arrives_as_it_was() -> None:
    failed = SetupFailed("paths", "why\0not", "do it", 2, "p.sbx:3")
    here, there = messages.pair()
    with closing(here), closing(there):
        messages.send_failure(there.fileno(), failed)
        seen = messages.receive(here)
    assert seen is not None
    assert messages.failure(seen.told).failure == failed.failure._replace(why="why\\0not")


def read(sent: bytes) -> SetupFailed:
    here, there = messages.pair()
    with closing(here), closing(there):
        there.send(sent)
        seen = messages.receive(here)
    assert seen is not None
    return messages.failure(seen.told)


def test_what_is_no_text_is_a_failure() -> None:
    with pytest.raises(SetupFailed, match="nothing that can be understood"):
        read(b"\xff")


@pytest.mark.parametrize("number", [b"x", b"", b"-1", b"\xc2\xb2", b"1" * 5000])
def test_what_is_no_number_is_a_failure(number: bytes) -> None:
    with pytest.raises(SetupFailed, match="nothing that can be understood"):
        read(b"failed\0a\0b\0c\0" + number + b"\0e")


def test_too_few_texts_are_a_failure() -> None:
    assert "nothing that can be understood" in read(b"failed\0only\0three").failure.why


def test_what_was_said_before_an_end_that_left_something_unread_is_heard() -> None:
    """The kernel tells of such an end first (ECONNRESET, `unix_release_sock`, `net/unix/af_unix.c`)."""
    here, there = messages.pair()
    with closing(here):
        with closing(there):
            messages.send(there.fileno(), "last")
            here.send(b"never read")
        seen = messages.receive(here)
        assert seen is not None
        assert seen.word == "last"
        assert messages.receive(here) is None

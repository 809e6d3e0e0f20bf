"""Signatures: the facts that a wrong width, order or register would break."""

import pytest

from sbc.kernel.abi import ABIS, WORD_BITS
from sbc.kernel.numbers import numbers
from sbc.kernel.signature import IN_MEMORY, SPLIT, Argument, Signature, signature


def _get(abi: str, call: str) -> Signature:
    found = signature(abi, call)
    assert found is not None, (abi, call)
    return found


def _argument(abi: str, call: str, name: str) -> Argument:
    found = _get(abi, call).argument(name)
    assert found is not None, (abi, call, name)
    return found


PLAIN = "clone_flags newsp parent_tidptr child_tidptr tls"
BACKWARDS = "clone_flags newsp parent_tidptr tls child_tidptr"
CLONE = {
    "x86_64": PLAIN, "x32": PLAIN, "loongarch64": PLAIN,
    "s390x": "newsp clone_flags parent_tidptr child_tidptr tls",
    "aarch64": BACKWARDS, "riscv64": BACKWARDS, "ppc64le": BACKWARDS, "arm": BACKWARDS, "i386": BACKWARDS,
    "mips64el": BACKWARDS,
}  # fmt: skip
SIGSUSPEND = {
    "i386": "unused1 unused2 mask", "arm": "unused1 unused2 mask", "s390x": "unused1 unused2 mask", "ppc64le": "mask",
}  # fmt: skip


@pytest.mark.parametrize("abi", ABIS)
def test_the_order_of_clone(abi: str) -> None:
    order = CLONE[abi].split()
    assert [read.name for read in _get(abi, "clone").registers if read is not None] == order
    assert _argument(abi, "clone", "clone_flags").position == (1 if abi == "s390x" else 0)


@pytest.mark.parametrize("abi", ABIS)
def test_the_arguments_of_the_old_sigsuspend(abi: str) -> None:
    assert ("sigsuspend" in numbers(abi)) == (abi in SIGSUSPEND)
    if abi in SIGSUSPEND:
        assert [read.name for read in _get(abi, "sigsuspend").registers if read is not None] == SIGSUSPEND[abi].split()


@pytest.mark.parametrize(
    ("abi", "call", "name", "registers"),
    [
        ("i386", "pread64", "pos", (3, 4)), ("arm", "pread64", "pos", (4, 5)), ("i386", "truncate64", "length", (1, 2)),
        ("arm", "truncate64", "length", (2, 3)), ("i386", "fanotify_mark", "mask", (2, 3)),
        ("arm", "fanotify_mark", "mask", (2, 3)), ("i386", "fallocate", "len", (4, 5)),
        ("i386", "readahead", "offset", (1, 2)), ("arm", "sync_file_range2", "nbytes", (4, 5)),
        ("arm", "arm_fadvise64_64", "offset", (2, 3)), ("i386", "lookup_dcookie", "cookie64", (0, 1)),
    ],
)  # fmt: skip
def test_a_split_argument_has_no_position_and_two_halves(
    abi: str, call: str, name: str, registers: tuple[int, int]
) -> None:
    argument = _argument(abi, call, name)
    assert (argument.width, argument.position, argument.reason) == (64, None, SPLIT)
    found = _get(abi, call)
    halves = [found.register(index) for index in registers]
    assert [(half.name, half.width, half.signed) for half in halves if half is not None] == [(name, 32, False)] * 2


def test_what_follows_a_split_argument_moves() -> None:
    assert _argument("i386", "fanotify_mark", "dfd").position == 4
    assert _argument("x86_64", "fanotify_mark", "dfd").position == 3
    assert _argument("i386", "sync_file_range", "flags").position == 5


def test_padding_is_no_argument() -> None:
    assert _get("arm", "pread64").register(3) is None
    assert _get("arm", "truncate64").register(1) is None


@pytest.mark.parametrize(("abi", "call"), [("i386", "mmap"), ("s390x", "mmap"), ("i386", "select")])
def test_arguments_in_memory_have_names_and_no_position(abi: str, call: str) -> None:
    found = _get(abi, call)
    assert all(argument.position is None and argument.reason == IN_MEMORY for argument in found.args[:-1])
    assert found.args[:-1]
    assert [read.pointer for read in found.registers if read is not None] == [True]
    assert [argument.name for argument in found.args[:-1]] == [argument.name for argument in _get("x86_64", call).args]


@pytest.mark.parametrize(
    ("abi", "call", "name", "width", "signed", "pointer"),
    [
        ("x86_64", "socket", "family", 32, True, False), ("x86_64", "chmod", "mode", 16, False, False),
        ("x86_64", "personality", "personality", 32, False, False), ("x86_64", "prctl", "arg2", 64, False, False),
        ("x86_64", "ioctl", "cmd", 32, False, False), ("x86_64", "ioctl", "arg", 64, False, False),
        ("x86_64", "clone", "clone_flags", 64, False, False), ("x86_64", "unshare", "unshare_flags", 64, False, False),
        ("i386", "clone", "clone_flags", 32, False, False), ("arm", "unshare", "unshare_flags", 32, False, False),
        ("x86_64", "write", "buf", 64, False, True), ("i386", "write", "buf", 32, False, True),
        ("i386", "chown", "user", 16, False, False), ("i386", "chown32", "user", 32, False, False),
        ("x86_64", "chown", "user", 32, False, False), ("x86_64", "lseek", "offset", 64, True, False),
        ("i386", "lseek", "offset", 32, True, False), ("x86_64", "kill", "pid", 32, True, False),
        ("x86_64", "ptrace", "request", 64, True, False), ("i386", "ptrace", "request", 32, True, False),
        ("x32", "ioctl", "arg", 32, False, False), ("x32", "prctl", "arg2", 64, False, False),
        ("x32", "recvfrom", "buf", 64, False, True), ("x86_64", "setxattrat", "at_flags", 32, False, False),
        ("ppc64le", "mmap", "off", 64, True, False), ("x86_64", "mmap", "off", 64, False, False),
    ],
)  # fmt: skip
def test_what_the_kernel_reads(  # noqa: PLR0917
    abi: str, call: str, name: str, width: int, signed: bool, pointer: bool
) -> None:
    if (abi, call, name) == ("x32", "recvfrom", "buf"):
        name = _get(abi, call).args[1].name
    argument = _argument(abi, call, name)
    assert (argument.width, argument.signed, argument.pointer) == (width, signed, pointer)


@pytest.mark.parametrize("abi", ABIS)
def test_every_signature_is_sound(abi: str) -> None:
    for call in numbers(abi):
        found = signature(abi, call)
        if found is None:
            continue
        positions = [argument.position for argument in found.args if argument.position is not None]
        assert len(set(positions)) == len(positions), call
        assert len(found.registers) <= 6, call
        assert len({argument.name for argument in found.args}) == len(found.args), call
        for argument in found.args:
            assert (argument.reason is None) == (argument.position is not None), call
            assert argument.width in (16, 32, 64), call
            assert not (argument.pointer and argument.signed), call
            if argument.position is not None:
                assert found.register(argument.position) == argument, call
                assert argument.width <= WORD_BITS[abi], call


def test_a_call_has_the_same_names_on_every_abi() -> None:
    differing: set[tuple[str, str]] = set()
    for abi in ABIS:
        for call in numbers(abi):
            here, model = signature(abi, call), signature("x86_64", call)
            if here is not None and model is not None:
                names = {argument.name for argument in here.args if argument.name != "arg" or call == "ioctl"}
                if names != {argument.name for argument in model.args if argument.name != "arg" or call == "ioctl"}:
                    differing.add((abi, call))
    # The offset of these is one register on x32; mips64el returns both ends of a pipe in registers.
    assert differing == {("x32", call) for call in ("preadv", "preadv2", "pwritev", "pwritev2")} | {
        ("mips64el", "pipe")
    }


def test_calls_that_no_kernel_answered_have_no_signature() -> None:
    assert signature("x86_64", "tuxcall") is None
    assert signature("x86_64", "socketcall") is None


def test_a_call_without_arguments_has_an_empty_signature() -> None:
    assert _get("x86_64", "getpid").args == ()
    assert _get("x86_64", "getpid").register(0) is None


@pytest.mark.parametrize("call", ["lookup_dcookie", "_sysctl", "uselib", "open_tree_attr", "file_getattr", "listns"])
def test_calls_of_other_kernels_than_6_12_have_signatures(call: str) -> None:
    assert _get("x86_64", call).args

"""Calls that stand for others: siblings and multiplexers."""

import pytest

from sbc.kernel.abi import ABIS
from sbc.kernel.multiplexed import multiplexed, multiplexer_of
from sbc.kernel.numbers import all_calls, numbers
from sbc.kernel.siblings import siblings


@pytest.mark.parametrize(
    ("call", "other", "since"),
    [
        ("chmod", "fchmodat2", "6.6"), ("open", "openat2", "5.6"), ("clone", "clone3", "5.3"),
        ("mount", "move_mount", "5.2"), ("execve", "execveat", "3.19"), ("kill", "pidfd_send_signal", "5.1"),
        ("settimeofday", "clock_settime64", "5.1"), ("umount2", "umount", "1.0"), ("unshare", "clone", "1.0"),
        ("open_tree", "open_tree_attr", "6.15"), ("setxattr", "setxattrat", "6.13"),
        ("quotactl", "quotactl_fd", "5.14"), ("ptrace", "process_vm_writev", "3.2"), ("accept", "accept4", "2.6.28"),
    ],
)  # fmt: skip
def test_a_sibling_and_its_kernel(call: str, other: str, since: str) -> None:
    assert (other, since) in siblings()[call]


def test_siblings_are_mutual_calls_and_never_the_call_itself() -> None:
    for call, others in siblings().items():
        assert call in all_calls()
        for other in others:
            assert other.call != call
            assert call in {back.call for back in siblings()[other.call]}


@pytest.mark.parametrize("abi", ABIS)
def test_only_abis_with_the_numbers_multiplex(abi: str) -> None:
    present = {"socketcall", "ipc"} if abi in ("i386", "s390x", "ppc64le") else set[str]()
    assert set(multiplexed(abi)) == present
    assert present <= numbers(abi).keys()


def test_the_codes_of_the_multiplexers() -> None:
    sockets, ipc = multiplexed("i386")["socketcall"], multiplexed("i386")["ipc"]
    assert (sockets["socket"], sockets["sendmmsg"], len(sockets)) == (1, 20, 20)
    assert (ipc["semop"], ipc["semtimedop"], ipc["msgsnd"], ipc["shmat"], ipc["shmctl"], len(ipc)) == (
        1,
        4,
        11,
        21,
        24,
        12,
    )


@pytest.mark.parametrize(
    ("abi", "call", "name"),
    [
        ("i386", "socket", "socketcall"), ("s390x", "shmat", "ipc"), ("x86_64", "socket", None),
        ("arm", "shmat", None), ("i386", "open", None),
    ],
)  # fmt: skip
def test_the_multiplexer_of_a_call(abi: str, call: str, name: str | None) -> None:
    assert multiplexer_of(abi, call) == name

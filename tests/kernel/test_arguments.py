"""Other names of arguments, and the constants that they take."""

import pytest

from sbc.kernel.abi import ABIS
from sbc.kernel.arguments import argument_alias, argument_aliases, argument_families
from sbc.kernel.constants import families, members
from sbc.kernel.numbers import all_calls
from sbc.kernel.signature import signature


def _names(call: str) -> set[str]:
    found = (signature(abi, call) for abi in ABIS)
    return {argument.name for each in found if each is not None for argument in each.args}


@pytest.mark.parametrize(
    ("call", "alias", "name"),
    [
        ("socket", "domain", "family"), ("openat", "dirfd", "dfd"), ("ioctl", "request", "cmd"),
        ("clone", "flags", "clone_flags"), ("unshare", "flags", "unshare_flags"), ("setns", "nstype", "flags"),
        ("open", "pathname", "filename"), ("mmap", "offset", "off"), ("mmap", "length", "len"),
        ("madvise", "advice", "behavior"), ("ptrace", "op", "request"), ("personality", "persona", "personality"),
        ("unlinkat", "flags", "flag"), ("kill", "signum", "sig"), ("chown", "owner", "user"),
        ("clock_settime", "clockid", "which_clock"), ("mount", "source", "dev_name"), ("bind", "sockfd", "fd"),
        ("socket", "family", None), ("socket", "dirfd", None), ("getpid", "flags", None), ("no_such", "flags", None),
    ],
)  # fmt: skip
def test_the_name_of_the_man_page(call: str, alias: str, name: str | None) -> None:
    assert argument_alias(call, alias) == name


def test_every_alias_stands_for_an_argument_and_hides_none() -> None:
    for call in all_calls():
        for alias, name in argument_aliases(call).items():
            assert name in _names(call), (call, alias)
            assert alias not in _names(call), (call, alias)


@pytest.mark.parametrize(
    ("call", "name", "taken"),
    [
        ("socket", "family", ("AF",)), ("socket", "type", ("SOCK",)), ("socket", "protocol", None),
        ("open", "flags", ("O",)), ("clone", "clone_flags", ("CLONE", "SIG")), ("prctl", "option", ("PR",)),
        ("prctl", "arg2", None), ("openat", "dfd", ("AT",)), ("write", "fd", None), ("no_such", "x", None),
        ("socketcall", "call", ("SYS",)), ("ipc", "call", ("IPCOP",)), ("personality", "personality", ("PER",)),
    ],
)  # fmt: skip
def test_the_families_of_an_argument(call: str, name: str, taken: tuple[str, ...] | None) -> None:
    assert argument_families(call, name) == taken


def test_every_family_that_an_argument_takes_has_members() -> None:
    for call in all_calls():
        for name in _names(call):
            for family in argument_families(call, name) or ():
                assert family in families(), (call, name)
                assert members(family), family

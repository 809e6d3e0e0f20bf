"""`~` for a uid that the password database does not have: HOME may stand in where it only hides more, else no run."""

import os
import pwd
from pathlib import Path

import pytest

from sbc_runtime.outcome import Outcome
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, missing, out

BASE = f"root private; {SYSTEM}; devices minimal; tmp /tmp size 1MiB; start-in /tmp"


@pytest.fixture
def nobodys() -> Caller:
    """Give a caller whose uid has no entry."""
    caller = Caller("user")
    if caller.owner in {one.pw_uid for one in pwd.getpwall()}:
        missing("root", "only root can become a user that the password database does not have")
    return caller


def attempt(caller: Caller, files: str, home: Path | None, script: str = "echo ran") -> Outcome:
    environ = {} if home is None else {"HOME": str(home)}
    return caller.run(bundle(f"files {{ {BASE}; {files} }}; {PATHS}; network none"), script, environ=environ)


@pytest.mark.parametrize("files", ["hide ~/.ssh optional", "hide ~/.ssh", "hide ${home} optional"])
def test_what_to_hide_is_not_known(nobodys: Caller, files: str) -> None:
    failure = attempt(nobodys, files, None).failure
    assert failure is not None
    assert failure.why == f"the home of uid {nobodys.owner} is not known: the password database has none"
    assert failure.remedy == "set HOME, or give this uid an entry with a home in /etc/passwd"
    assert failure.where.endswith(".sbx:3")


@pytest.mark.parametrize(
    "files", ["read ~/x optional", "write ~ optional", "tmp ~/t size 1MiB", "read /usr/share as ~/x optional"]
)
def test_home_is_not_what_the_variable_says_where_it_gives_something(nobodys: Caller, files: str) -> None:
    failure = attempt(nobodys, files, nobodys.tree()).failure
    assert failure is not None
    assert "is not known" in failure.why
    assert failure.remedy == "give this uid an entry with a home in /etc/passwd"


def test_the_variable_says_what_to_hide(nobodys: Caller) -> None:
    home = nobodys.tree()
    (home / ".ssh").mkdir()
    (home / ".ssh/key").write_text("secret")
    nobodys.own(home / ".ssh")
    shown, hidden = f"read {home}", f"read {home}; hide ~/.ssh"
    assert out(attempt(nobodys, shown, home, f"ls {home}/.ssh")) == "key\n"
    assert out(attempt(nobodys, hidden, home, f"ls {home}/.ssh")) == ""


def test_no_home_is_needed_where_none_is_named(nobodys: Caller) -> None:
    assert out(attempt(nobodys, "hide /root optional", None)) == "ran\n"


def test_no_variable_is_needed_where_there_is_an_entry() -> None:
    caller = Caller("root" if os.geteuid() == 0 else "user")
    if os.geteuid() not in {one.pw_uid for one in pwd.getpwall()}:
        missing("root", "the password database does not have this user")
    assert out(attempt(caller, "hide ~/.none-such optional", None)) == "ran\n"

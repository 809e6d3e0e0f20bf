"""Protected paths below a writable tree: what holds them in place, and what is seen where something else takes it."""

import os
import threading
from pathlib import Path

import pytest

from sbc_runtime.outcome import Outcome
from tests.runtime.support import Caller, out
from tests.runtime.test_paths import host, profile


@pytest.fixture
def tree(caller: Caller) -> Path:
    """A folder with `real/f`, `.git -> real`, `a/.git -> ../real`, `out -> nothing`, `plain/f`."""
    made = caller.tree()
    for folder in ("real", "a", "plain"):
        (made / folder).mkdir()
    for file in ("real/f", "plain/f"):
        (made / file).write_text(file)
    (made / ".git").symlink_to("real")
    (made / "a/.git").symlink_to("../real")
    (made / "out").symlink_to("nothing")
    caller.own(*made.rglob("*"))
    return made


def refused(outcome: Outcome, step: str, *words: str) -> None:
    assert outcome.failure is not None, (outcome.kind, outcome.stderr.kept)
    assert outcome.failure.step == step, outcome.failure
    assert (outcome.by, outcome.code, outcome.ok) == ("sandbox", 125, False)
    for word in words:
        assert word in str(outcome.failure)


@pytest.mark.parametrize(
    ("rule", "script", "place"),
    [
        ("read ${t}/.git", "rm .git; mkdir .git", ".git"),
        ("read ${t}/.git", "rm .git; ln -s real .git", ".git"),
        ("read ${t}/.git", "mv .git x", ".git"),
        ("read ${t}/.git", "ln -s plain x; mv -T x .git", ".git"),
        ("hide ${t}/.git", "rm .git", ".git"),
        ("read ${t}/a/.git", "mv a b; mkdir -p a/.git", "a"),
        ("read ${t}/a/.git", "mv a b; cp -a b a", "a"),
        ("read ${t}/a/.git", "rm a/.git; ln -s ../real a/.git", "a/.git"),
    ],
)
def test_a_link_that_is_replaced(
    caller: Caller, backend: str, tree: Path, *, rule: str, script: str, place: str
) -> None:
    made = profile(f"write ${{t}} as /w; {rule} optional; start-in /w")
    outcome = caller.run(made, script, {"t": tree}, backend=backend)
    refused(outcome, "replaced-protected", str(tree / place))
    assert [(one.place, one.path) for one in outcome.replaced] == [
        (str(tree / place), str(tree / rule.partition("/")[2]))
    ]


def test_a_link_that_stays(caller: Caller, backend: str, tree: Path) -> None:
    made = profile("write ${t} as /w; read { ${t}/.git ${t}/a/.git }; start-in /w")
    script = "(echo x > .git/f) 2>/dev/null || echo 1; mv real x 2>/dev/null || echo 2; touch a/new new; cat a/.git/f"
    outcome = caller.run(made, script, {"t": tree}, backend=backend)
    assert out(outcome).split() == ["1", "2", "real/f"]
    assert outcome.replaced == ()


def test_a_link_that_led_nowhere(caller: Caller, backend: str, tree: Path) -> None:
    made = profile("write ${t} as /w; read ${t}/out optional; start-in /w")
    outcome = caller.run(made, "touch new", {"t": tree}, backend=backend)
    assert outcome.ok
    assert [(one.could_be_created, one.created) for one in outcome.absent] == [(True, False)]
    refused(caller.run(made, "mkdir nothing", {"t": tree}, backend=backend), "created-protected", "out")
    (tree / "nothing").rmdir()
    refused(caller.run(made, "rm out; ln -s nothing out", {"t": tree}, backend=backend), "replaced-protected", "out")


def test_what_is_made_where_it_cannot_be_looked_at(caller: Caller, backend: str, tree: Path) -> None:
    made = profile("write ${t} as /w; read ${t}/no/such optional; start-in /w")
    outcome = caller.run(made, "mkdir -p no/such; chmod 0 no", {"t": tree}, backend=backend)
    (tree / "no").chmod(0o755)
    refused(outcome, "created-protected", "no/such")


def test_nothing_moves_what_is_mounted(caller: Caller, backend: str, tree: Path) -> None:
    """Neither the path itself nor a folder above it: by rename, exchange, rmdir."""
    (tree / "a/b/.git").mkdir(parents=True)
    (tree / "a/b/s").mkdir()
    caller.own(tree / "a/b", tree / "a/b/.git", tree / "a/b/s")
    script = (
        "import ctypes, errno, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def exchange(a, b):\n"
        "    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2): raise OSError(ctypes.get_errno(), '')\n"
        "for one, other in (('a', 'plain'), ('a/b', 'a/.git'), ('a/b/.git', 'a/b/s')):\n"
        "    for act in (lambda: os.rename(one, other + 'x'), lambda: exchange(one, other), lambda: os.rmdir(one)):\n"
        "        try: act(); print('done')\n"
        "        except OSError as e: print(errno.errorcode[e.errno])\n"
    )
    made = profile("write ${t} as /w; read ${t}/a/b/.git; start-in /w")
    told = out(caller.run(made, ["/usr/bin/python3", "-c", script], {"t": tree}, backend=backend)).split()
    assert set(told) == {"EBUSY"}


def test_a_writable_path_between_does_not_free_the_folders_above(caller: Caller, backend: str, tree: Path) -> None:
    (tree / "a/b/c/.git").mkdir(parents=True)
    caller.own(*(tree / "a").rglob("*"))
    made = profile("write ${t} as /w; write ${t}/a/b/c; read ${t}/a/b/c/.git; start-in /w")
    script = "for one in a a/b a/b/c; do mv $one x 2>/dev/null || echo held; done"
    assert out(caller.run(made, script, {"t": tree}, backend=backend)).split() == ["held"] * 3


def test_another_process_replaces_what_is_mounted(
    caller: Caller, backend: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount of one sandbox holds nobody outside of it: the path is compared after the run."""
    monkeypatch.chdir("/")  # where both threads are to be
    (tree / "b").mkdir()
    caller.own(tree / "b")
    (tree / "go").touch()
    caller.own(tree / "go")
    made = profile("write ${t} as /w; read ${t}/b; start-in /w")
    inner = profile("write ${t} as /w; start-in /w")
    found: list[Outcome] = []
    script = "touch started; while [ -e go ]; do sleep 0.02; done"
    thread = threading.Thread(target=lambda: found.append(caller.run(made, script, {"t": tree}, backend=backend)))
    thread.start()
    other = "until [ -e started ]; do sleep 0.02; done; mv b c && mkdir b && rm go"
    assert out(caller.run(inner, other, {"t": tree}, backend=backend, timeout=120)) == ""
    thread.join()
    refused(found[0], "replaced-protected", str(tree / "b"))


def test_the_hosts_tree(caller: Caller, backend: str, tree: Path) -> None:
    made = host("write ${t}; read ${t}/.git optional", "network host")
    outcome = caller.run(made, f"cd {tree}; rm .git; mkdir .git", {"t": tree}, backend=backend)
    refused(outcome, "replaced-protected", str(tree / ".git"))


def test_a_second_name_of_a_protected_file(caller: Caller, backend: str, tree: Path) -> None:
    os.link(tree / "plain/f", tree / "second")
    made = profile("write ${t} as /w; read ${t}/plain/f; start-in /w")
    outcome = caller.run(made, "cat second", {"t": tree}, backend=backend)
    assert outcome.ok
    assert any("1 other name" in one and str(tree / "plain/f") in one for one in outcome.notes)
    for script in ("echo x >> second", "touch -r plain/f x; echo y > second; touch -r x second", "chmod 700 second"):
        refused(caller.run(made, script, {"t": tree}, backend=backend), "replaced-protected", str(tree / "plain/f"))

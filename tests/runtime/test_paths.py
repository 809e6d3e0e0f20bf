"""Paths: the most specific statement decides, nothing is made on the host, links only narrow."""

import os
import socket
from pathlib import Path

import pytest

from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out

BASE = f"root private; {SYSTEM}; devices minimal"


def profile(files: str, more: str = "") -> Path:
    return bundle(f"param t : dir; files {{ {BASE}; {files} }}; {PATHS}; {more}")


def host(files: str, more: str = "") -> Path:
    return bundle(f"param t : dir; files {{ root host; read /; devices standard; {files} }}; {PATHS}; {more}")


@pytest.fixture
def tree(caller: Caller) -> Path:
    """A folder with `a/b/f`, `g`, `.git/config` in it."""
    made = caller.tree()
    for folder in ("a", "a/b", ".git"):
        (made / folder).mkdir()
    for file in ("a/b/f", "g", ".git/config"):
        (made / file).write_text(file)
    caller.own(*made.rglob("*"))
    return made


def test_the_most_specific_decides(caller: Caller, tree: Path) -> None:
    # In every order that can be written.
    rules = ["write ${t} as /w", "hide ${t}/a", "write ${t}/a/b", "read ${t}/.git"]
    script = (
        "cat /w/a/b/f; echo; ls /w/a; cat /w/.git/config; echo; echo x > /w/a/b/n && echo 1;"
        "(echo x > /w/a/n) 2>/dev/null || echo 2; (echo x > /w/.git/n) 2>/dev/null || echo 3; echo x > /w/n && echo 4"
    )
    for order in (rules, rules[::-1], rules[2:] + rules[:2]):
        told = out(caller.run(profile("; ".join(order) + "; start-in /w"), script, {"t": tree}))
        assert told.split() == ["a/b/f", "b", ".git/config", "1", "2", "3", "4"]


def test_hidden_things_are_empty_and_read_only(caller: Caller, tree: Path) -> None:
    made = profile("write ${t} as /w; hide { ${t}/a ${t}/g }; start-in /w")
    script = "ls -A a; wc -c < g; (echo x > g) 2>/dev/null || echo 1; (echo x > a/x) 2>/dev/null || echo 2"
    assert out(caller.run(made, script, {"t": tree})).split() == ["0", "1", "2"]
    assert (tree / "g").read_text() == "g"


def test_nothing_is_made_on_the_host(caller: Caller, tree: Path) -> None:
    made = profile("write ${t} as /w; hide ${t}/none optional; read ${t}/no/such optional; start-in /w")
    outcome = caller.run(made, ["/bin/true"], {"t": tree})
    assert outcome.ok
    assert [(one.path.removeprefix(str(tree)), one.could_be_created) for one in outcome.absent] == [
        ("/none", True),
        ("/no/such", True),
    ]
    assert not (tree / "none").exists()
    assert not (tree / "no").exists()


def test_a_protected_path_that_is_made_meanwhile(caller: Caller, tree: Path) -> None:
    made = profile("write ${t} as /w; hide ${t}/none optional; start-in /w")
    outcome = caller.run(made, "mkdir none", {"t": tree})
    assert outcome.absent[0].created
    assert not outcome.ok
    assert (outcome.code, outcome.by) == (125, "sandbox")
    assert outcome.failure is not None
    assert outcome.failure.step == "created-protected"


def test_a_required_path_that_is_missing(caller: Caller, tree: Path) -> None:
    outcome = caller.run(profile("write ${t} as /w; read /no/such/path; start-in /w"), ["/bin/true"], {"t": tree})
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert ".sbx:" in outcome.failure.where


def test_folders_above_a_protected_path_cannot_be_moved(caller: Caller, tree: Path) -> None:
    made = profile("write ${t} as /w; read ${t}/a/b/f; start-in /w")
    script = "; ".join(f"mv {one} x 2>/dev/null || echo {n}" for n, one in enumerate(("a", "a/b", "a/b/f"), 1))
    script += "; touch a/b/n && echo 4"
    assert out(caller.run(made, script, {"t": tree})).split() == ["1", "2", "3", "4"]


def test_a_file_can_be_written_alone(caller: Caller, tree: Path) -> None:
    made = bundle(f"param f : file; files {{ {BASE}; write ${{f}} as /w/g; start-in / }}; {PATHS}")
    script = "echo new > /w/g; (echo x > /w/x) 2>/dev/null || echo 1; ls /w"
    assert out(caller.run(made, script, {"f": tree / "g"})).split() == ["1", "g"]
    assert (tree / "g").read_text() == "new\n"


def test_links_in_a_tree_may_not_lead_out_of_it(caller: Caller, tree: Path) -> None:
    (tree / "out").symlink_to("/etc")
    (tree / "in").symlink_to("a/b")
    outcome = caller.run(profile("write ${t} as /w; read ${t}/out; start-in /w"), ["/bin/true"], {"t": tree})
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert "leads out of" in outcome.failure.why
    made = profile("write ${t} as /w; read ${t}/in; start-in /w")
    assert out(caller.run(made, "(echo x > a/b/x) 2>/dev/null || echo 1; cat in/f", {"t": tree})).split() == [
        "1",
        "a/b/f",
    ]


def test_one_object_by_two_paths_is_protected_by_both(caller: Caller, tree: Path) -> None:
    made = bundle(
        f"param t : dir; param u : dir; files {{ {BASE}; write ${{t}} as /w; hide ${{u}} ; start-in /w }}; {PATHS}"
    )
    assert out(caller.run(made, "ls -A a", {"t": tree, "u": tree / "a"})) == ""


def test_two_kinds_of_access_that_meet_are_refused(caller: Caller, tree: Path) -> None:
    made = bundle(f"param t : dir; param u : dir; files {{ {BASE}; write ${{t}}; read ${{u}} }}; {PATHS}")
    outcome = caller.run(made, ["/bin/true"], {"t": tree, "u": tree})
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert "two kinds of access" in outcome.failure.why


def test_a_git_file_protects_what_it_points_to(caller: Caller, tree: Path) -> None:
    (tree / "real").mkdir()
    (tree / "work").mkdir()
    (tree / "work/.git").write_text("gitdir: ../real\n")
    caller.own(tree / "real", tree / "work", tree / "work/.git")
    made = profile("write ${t} as /w; read ${t}/work/.git; start-in /w")
    script = "(echo x > real/x) 2>/dev/null || echo 1; mv real other 2>/dev/null || echo 2"
    assert out(caller.run(made, script, {"t": tree})).split() == ["1", "2"]


def test_a_second_name_is_reported(caller: Caller, tree: Path) -> None:
    os.link(tree / "g", tree / "second")
    outcome = caller.run(profile("write ${t} as /w; hide ${t}/g; start-in /w"), ["/bin/true"], {"t": tree})
    assert any("other name" in one for one in outcome.notes)


def test_sockets_are_covered(caller: Caller, tree: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tree / "s"))
        listener.listen()
        (tree / "s").chmod(0o777)
        script = (
            "import socket, sys\n"
            "s = socket.socket(socket.AF_UNIX)\n"
            "try: s.connect(sys.argv[1]); print('reached')\n"
            "except OSError as e: print('not')\n"
        )
        argv = ["/usr/bin/python3", "-c", script]
        made = profile("write ${t} as /w; start-in /w", "network none")
        outcome = caller.run(made, [*argv, "/w/s"], {"t": tree})
        assert out(outcome) == "not\n"
        assert outcome.covered == ("/w/s",)
        made = host("write ${t}", "network none")
        assert out(caller.run(made, [*argv, str(tree / "s")], {"t": tree})) == "not\n"
        # The control: the same socket is reached where the network is the host's.
        made = profile("write ${t} as /w; start-in /w", "network host")
        assert out(caller.run(made, [*argv, "/w/s"], {"t": tree})) == "reached\n"


def test_the_hosts_tree_is_read_only(caller: Caller, tree: Path) -> None:
    made = host("write ${t}; tmp /tmp size 16MiB; read ${t}/.git optional")
    script = (
        "(echo x > /var/tmp/x) 2>/dev/null || echo 1; ls -A /tmp /run | wc -w; "
        f"cd {tree}; echo x > n && echo 2; (echo x > .git/n) 2>/dev/null || echo 3"
    )
    outcome = caller.run(made, script, {"t": tree}, cwd=str(tree))
    assert out(outcome).split()[0] == "1"
    assert out(outcome).split()[2:] == ["2", "3"]
    assert {"/run"} <= set(outcome.covered)
    assert outcome.isolation is not None
    assert outcome.isolation.host_root
    assert outcome.isolation.protections.private_root is False


def test_submounts_are_read_only_too(caller: Caller, tree: Path) -> None:
    outcome = caller.run(host("write ${t}"), "cat /proc/self/mountinfo", {"t": tree}, cwd=str(tree))
    for line in out(outcome).splitlines():
        place, options = line.split()[4:6]
        if not place.startswith(("/dev", "/proc", str(tree))):
            assert options.startswith("ro"), line


def test_many_mounts(caller: Caller, tree: Path) -> None:
    for number in range(300):
        (tree / f"d{number}").mkdir()
    rules = "; ".join(f"read ${{t}}/d{number}" for number in range(300))
    outcome = caller.run(profile(f"write ${{t}} as /w; start-in /w; {rules}"), "ls | wc -l", {"t": tree})
    assert out(outcome) == "302\n"


def test_the_start_folder(caller: Caller, tree: Path) -> None:
    assert out(caller.run(profile("write ${t} as /w"), "pwd", {"t": tree}, cwd=str(tree / "a"))) == "/w/a\n"
    assert out(caller.run(profile("write ${t} as /w"), "pwd", {"t": tree}, cwd="/var")) == "/w\n"


def test_root_is_told_to_give_the_tree_away(tree: Path) -> None:
    root = Caller("root")
    os.chown(tree, 0, 0)
    outcome = root.run(profile("write ${t} as /w; start-in /w"), ["/bin/true"], {"t": tree})
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert outcome.failure.remedy == f"chown -R 65534:65534 {tree}"


def test_a_tree_in_a_closed_folder(caller: Caller) -> None:
    if caller.name != "root":
        pytest.skip("an ordinary user could not get there itself")
    closed = caller.tree()
    os.chown(closed, 0, 0)
    closed.chmod(0o700)
    tree = closed / "tree"
    tree.mkdir()
    caller.own(tree)
    assert out(caller.run(profile("write ${t} as /w; start-in /w"), "touch x; ls", {"t": tree})) == "x\n"
    assert out(caller.run(host("write ${t}"), "ls /", {"t": tree}, cwd="/"))


def test_home_is_hidden_where_both_say_it_is(tree: Path) -> None:
    caller = Caller("user")
    (tree / "home/.ssh").mkdir(parents=True)
    (tree / "home/.ssh/key").write_text("secret")
    made = host("write ${t}/a; hide ~/.ssh optional; hide /root optional")
    outcome = caller.run(
        made, f"ls {tree}/home/.ssh", {"t": tree}, environ={"HOME": str(tree / "home")}, cwd=str(tree / "a")
    )
    assert out(outcome) == ""

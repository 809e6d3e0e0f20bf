"""The `files` block on macOS, decided by an evaluator that knows nothing of the emitter."""

import pytest

from sbc.backends.seatbelt.target import SeatbeltTarget
from sbc.backends.target import Unsayable
from sbc.policy.filesystem import Access
from sbc.policy.policy import Policy
from sbc.policy.values import Param
from tests.targets.policies import (
    TMP,
    WORKTREE,
    agent_check,
    files,
    gate,
    hide,
    policy,
    read,
    rule,
    sbpl,
    seatbelt,
    tmp,
    where,
    write,
)
from tests.targets.sbpl import Evaluator, Query

READS = ("file-read-data", "file-read-metadata", "file-read-xattr", "file-test-existence")
WRITES = (
    "file-write-data",
    "file-write-create",
    "file-write-unlink",
    "file-write-mode",
    "file-write-setugid",
    "file-link",
    "file-clone",
    "file-mount",
    "file-mknod",
)
EXECS = ("process-exec*", "process-exec-interpreter", "file-map-executable")
PARAMS = {
    "worktree": "/Users/u/wt",
    "home": "/Users/u",
    ":HOME": "/Users/u",
    "tmpdir": "/private/var/folders/ab/T",
    "cwd": "/Users/u/wt",
    "out": "/Users/u/out",
}


def emitted(made: Policy) -> str:
    return SeatbeltTarget().emit(made).files[0].content.decode()


def evaluator(made: Policy) -> Evaluator:
    return Evaluator(emitted(made), PARAMS)


def access(held: Evaluator, path: str) -> Access:
    """Give what may be done with a path; the families must each be of one mind."""
    reads = {held.decide(Query(name, path)) for name in READS}
    writes = {held.decide(Query(name, path)) for name in WRITES}
    assert len(reads) == 1, (path, reads)
    assert len(writes) == 1, (path, writes)
    if writes == {"allow"}:
        assert reads == {"allow"}
        return "write"
    return "read" if reads == {"allow"} else "hide"


def held(made: Policy, path: str) -> Access:
    return access(evaluator(made), path)


@pytest.mark.parametrize("default", ["allow", "deny"])
def test_gate(default: str) -> None:
    made = gate()
    run = evaluator(made if default == "allow" else policy(made.files, name="gate", params=made.params))
    assert access(run, "/Users/u/wt/src/a.js") == "write"
    for path in ("/Users/u/wt/.git/config", "/Users/u/wt/node_modules/x/i.js", "/private/etc/hosts", "/usr/bin/env"):
        assert access(run, path) == "read"
    assert access(run, "/private/tmp/x") == "write"
    assert access(run, "/private/var/folders/zz/x") == "write"
    for path in ("/Users/u/wt", "/Users/u/wt/.git", "/Users/u/wt/node_modules", "/Users/u", "/Users"):
        assert run.decide(Query("file-write-unlink", path)) == "deny", path
    assert run.decide(Query("file-write-data", "/dev/null")) == "allow"
    assert run.decide(Query("file-write-unlink", "/dev/null")) == "deny"
    assert run.decide(Query("file-read-data", "/dev/disk0")) == "deny"
    assert run.decide(Query("file-read-data", "/dev/ttys004")) == "deny"
    assert run.decide(Query("file-write-data", "/dev/ttys004")) == "deny"
    assert run.decide(Query("file-ioctl", "/dev/ttys004")) == "allow"
    assert run.decide(Query("file-write-create", "/Users/u/.zshrc")) == "deny"


def test_as_cannot_be_said() -> None:
    with pytest.raises(Unsayable, match="move a path"):
        SeatbeltTarget().emit(agent_check())
    assert emitted(policy(files(read("/opt", "/opt"))))


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_statements_does_not_matter(order: int) -> None:
    rules = [write("/opt"), read("/opt/ro"), hide("/opt/ro/secret"), write("/opt/ro/secret/out"), read("/opt/a")]
    run = evaluator(policy(files(*rules[::order])))
    assert access(run, "/opt/x") == "write"
    assert access(run, "/opt/ro/x") == "read"
    assert access(run, "/opt/ro/secret/x") == "hide"
    assert access(run, "/opt/ro/secret/out/x") == "write"
    assert access(run, "/opt/robot") == "write"
    assert emitted(policy(files(*rules))) == emitted(policy(files(*rules[::order])))


def test_a_private_root_holds_what_is_listed_and_what_a_process_needs() -> None:
    run = evaluator(policy(files(read("/usr/bin"), write("${worktree}"), root="private"), params=(WORKTREE,)))
    assert access(run, "/Users/u/other") == "hide"
    assert access(run, "/usr/bin/env") == "read"
    assert access(run, "/usr/local/x") == "hide"
    assert access(run, "/Users/u/wt/x") == "write"
    assert run.decide(Query("file-read-data", "/")) == "allow"
    assert run.decide(Query("file-read-data", "/usr/lib/libSystem.B.dylib")) == "allow"
    assert run.decide(Query("file-map-executable", "/usr/lib/dyld")) == "allow"
    for name in ("/usr", "/Users", "/Users/u", "/var", "/etc", "/tmp"):
        assert run.decide(Query("file-read-metadata", name)) == "allow", name
    assert run.decide(Query("file-read-data", "/Users/u")) == "deny"


@pytest.mark.parametrize("default", ["allow", "deny"])
def test_a_hidden_root_leaves_the_root_folder_readable(default: str) -> None:
    block = seatbelt("allow") if default == "allow" else None
    run = evaluator(policy(files(hide("/"), read("/opt")), block=block))
    assert run.decide(Query("file-read-data", "/")) == "allow"
    assert run.decide(Query("file-write-create", "/")) == "deny"
    assert access(run, "/Users/u") == "hide"
    assert access(run, "/opt/x") == "read"


def test_hide_covers_both_homes_and_read_only_the_first() -> None:
    made = policy(files(hide("~/.ssh"), read("~/.ssh/known_hosts")))
    run = Evaluator(emitted(made), {**PARAMS, ":HOME": "/Users/other"})
    assert access(run, "/Users/other/.ssh/id") == "hide"
    assert access(run, "/Users/other/.ssh/known_hosts") == "hide"
    assert access(run, "/Users/u/.ssh/id") == "hide"
    assert access(run, "/Users/u/.ssh/known_hosts") == "read"


def test_folders_above_a_protected_path_cannot_be_moved() -> None:
    run = evaluator(policy(files(write("/opt/w"), read("/opt/w/a/b/.git"), write("/opt/w/a/b/.git/tmp"))))
    for path in ("/opt/w", "/opt/w/a", "/opt/w/a/b", "/opt/w/a/b/.git"):
        assert run.decide(Query("file-write-unlink", path)) == "deny", path
    for path in ("/opt/w/a/x", "/opt/w/c", "/opt/w/a/b/.git/tmp/x"):
        assert run.decide(Query("file-write-unlink", path)) == "allow", path
    assert run.decide(Query("file-write-create", "/opt/w/a/new")) == "allow"


def test_folders_above_a_parameter_inside_another_writable_area_cannot_be_moved() -> None:
    made = policy(files(write("/Users"), read("${worktree}/.git")), params=(WORKTREE,))
    run = evaluator(made)
    for path in ("/Users", "/Users/u", "/Users/u/wt", "/Users/u/wt/.git"):
        assert run.decide(Query("file-write-unlink", path)) == "deny", path
    assert run.decide(Query("file-write-unlink", "/Users/u/x")) == "allow"


def test_noexec() -> None:
    made = files(rule("write", "/opt/w", noexec=True), read("/opt/w/bin"))
    run = evaluator(policy(made))
    for name in EXECS:
        assert run.decide(Query(name, "/opt/w/x")) == "deny"
        assert run.decide(Query(name, "/opt/w/bin/x")) == "allow"
    assert access(run, "/opt/w/x") == "write"


def test_a_parameter_that_is_a_file_is_that_file_alone() -> None:
    made = policy(files(hide("/Users"), read("${out}")), params=(Param("out", "file"),))
    run = evaluator(made)
    assert access(run, "/Users/u/out") == "read"
    assert access(run, "/Users/u/out/below") == "hide"


def test_tmp_is_closed_and_the_loss_says_so() -> None:
    artifact = SeatbeltTarget().emit(policy(files(tmps=(tmp(TMP),))))
    assert [(one.direction, one.origin.text) for one in artifact.losses if "tmp" in one.origin.text] == [
        ("narrower", "tmp /tmp")
    ]
    assert held(policy(files(tmps=(tmp(TMP),))), "/private/tmp/x") == "hide"
    assert held(policy(files(tmps=(tmp(TMP, on="linux"),))), "/private/tmp/x") == "read"


@pytest.mark.parametrize("devices", ["none", "minimal", "standard", "host"])
def test_devices(devices: str) -> None:
    run = evaluator(policy(files(devices=devices)))  # type: ignore[arg-type]
    expected = "deny" if devices == "none" else "allow"
    assert run.decide(Query("file-read-data", "/dev/null")) == expected
    assert run.decide(Query("file-write-data", "/dev/null")) == expected
    assert run.decide(Query("file-write-create", "/dev/x")) == "deny"
    assert run.decide(Query("file-read-data", "/dev/ttys000")) == "deny"
    assert run.decide(Query("file-read-data", "/dev/tty")) == ("allow" if devices in ("standard", "host") else "deny")
    assert run.decide(Query("file-read-data", "/dev/disk0")) == ("allow" if devices == "host" else "deny")
    assert run.decide(Query("file-write-unlink", "/dev/disk0")) == "deny"
    assert run.decide(Query("ipc-posix-shm-read-data", name="x")) == "deny"


def test_a_deeper_statement_stands_above_devices() -> None:
    run = evaluator(policy(files(hide("/dev/null"), read("/dev/zero"))))
    assert run.decide(Query("file-write-data", "/dev/null")) == "deny"
    assert run.decide(Query("file-write-data", "/dev/zero")) == "deny"
    assert run.decide(Query("file-read-data", "/dev/zero")) == "allow"


OPENINGS = (
    "file-write*",
    "file-write-data",
    "file-write-unlink",
    "file-read-data",
    "file*",
    "process-exec*",
    "process-exec-interpreter",
)


@pytest.mark.parametrize("operation", OPENINGS)
@pytest.mark.parametrize("bare", [True, False])
def test_the_block_cannot_undo_what_is_derived(operation: str, bare: bool) -> None:
    filters = () if bare else (where("subpath", "/"),)
    block = seatbelt("allow", sbpl("allow", operation, *filters))
    made = policy(files(write("/opt/w"), hide("/opt/w/h"), rule("read", "/opt/w/r", noexec=True)), block=block)
    run = evaluator(made)
    assert access(run, "/opt/w/h/x") == "hide"
    assert access(run, "/opt/w/r/x") == "read"
    assert access(run, "/Users/x") == "read"
    assert {run.decide(Query(name, "/opt/w/r/x")) for name in EXECS} == {"deny"}
    assert run.decide(Query("file-write-unlink", "/opt/w/h")) == "deny"
    assert run.decide(Query("network-outbound", remote="1.1.1.1:443")) == "deny"


def test_a_deny_of_the_block_is_not_undone_by_what_is_derived() -> None:
    env = where("regex", r"/\.env$")
    block = seatbelt(
        "allow",
        sbpl("deny", "file-write* file-read-data", env),
        sbpl("allow", "file-read-data", where("literal", "/opt/w/ok/.env")),
        sbpl("deny", "file-write-setugid"),
    )
    run = evaluator(policy(files(write("/opt/w")), block=block))
    assert run.decide(Query("file-write-data", "/opt/w/.env")) == "deny"
    assert run.decide(Query("file-write-create", "/opt/w/.env")) == "deny"
    assert run.decide(Query("file-read-data", "/opt/w/.env")) == "deny"
    assert run.decide(Query("file-read-data", "/opt/w/ok/.env")) == "allow"
    assert run.decide(Query("file-write-setugid", "/opt/w/x")) == "deny"
    assert run.decide(Query("file-write-data", "/opt/w/x")) == "allow"


def test_a_bare_deny_that_paths_overrule_is_a_loss() -> None:
    artifact = SeatbeltTarget().emit(policy(files(), block=seatbelt("deny", sbpl("deny", "process-exec*"))))
    assert [(one.direction, one.origin.text) for one in artifact.losses] == [
        ("narrower", "devices minimal"),
        ("wider", "deny process-exec*"),
    ]


def test_case_does_not_count() -> None:
    run = evaluator(policy(files(write("/Users/u"), hide("/users/U/a/b"), read("/USERS/u/c"))))
    assert access(run, "/Users/u/a/b/f") == "hide"
    assert access(run, "/Users/u/c/f") == "read"
    assert access(run, "/users/U/x") == "write"
    for path in ("/Users/u/a/b", "/Users/u/a", "/Users/u", "/Users/u/c"):
        assert run.decide(Query("file-write-unlink", path)) == "deny", path
    assert run.decide(Query("file-write-unlink", "/Users/u/ab")) == "allow"


def test_a_work_tree_lies_in_the_home_folder() -> None:
    more = (Param("out", "dir"),)
    for rules in ((hide("~"), write("${worktree}")), (read("~"), write("${worktree}"))):
        for order in (rules, rules[::-1]):
            run = evaluator(policy(files(*order, read("${worktree}/.git"), hide("~/.ssh")), params=(WORKTREE, *more)))
            assert access(run, "/Users/u/wt/f") == "write"
            assert access(run, "/Users/u/wt/.git/f") == "read"
            assert access(run, "/Users/u/x") == rules[0].access
            assert access(run, "/Users/u/.ssh/id") == "hide"
            assert run.decide(Query("file-write-unlink", "/Users/u")) == "deny"
            assert run.decide(Query("file-read-metadata", "/Users/u")) == "allow"
    for param in ("cwd", "tmpdir", "out"):
        run = evaluator(policy(files(hide("~"), write(f"${{{param}}}")), params=more))
        assert access(run, f"{PARAMS[param]}/f") == "write", param

"""The network, processes and the `seatbelt` block on macOS."""

import pytest

from sbc.backends.seatbelt.target import SeatbeltTarget
from sbc.policy.filesystem import Devices
from sbc.policy.seatbelt import SbplFilter, SbplRule, SbplWord
from tests.targets.policies import (
    WORKTREE,
    bind,
    connect,
    files,
    hide,
    imported,
    network,
    policy,
    read,
    sbpl,
    seatbelt,
    unix,
    where,
    write,
)
from tests.targets.sbpl import Evaluator, Query
from tests.targets.test_sbpl_files import PARAMS, emitted, evaluator


def connects(run: Evaluator, remote: str) -> bool:
    return run.decide(Query("network-outbound", remote=remote)) == "allow"


def reaches(run: Evaluator, socket: str) -> bool:
    return run.decide(Query("network-outbound", socket)) == "allow"


@pytest.mark.parametrize("default", ["allow", "deny"])
def test_no_network(default: str) -> None:
    run = evaluator(policy(block=seatbelt("allow" if default == "allow" else "deny")))
    assert not connects(run, "1.1.1.1:443")
    assert not connects(run, "127.0.0.1:80")
    assert not reaches(run, "/private/var/run/mDNSResponder")
    assert run.decide(Query("network-bind", local="127.0.0.1:80")) == "deny"
    assert run.decide(Query("network-inbound", local="127.0.0.1:80")) == "deny"


@pytest.mark.parametrize("mode", ["none", "host"])
def test_a_list_allows_what_it_names_and_nothing_else(mode: str) -> None:
    listed = network(mode, connect(8080), bind(3000), unix("/var/run/x.sock"))  # type: ignore[arg-type]
    run = evaluator(policy(net=listed))
    assert connects(run, "127.0.0.1:8080")
    assert connects(run, "[::1]:8080")
    assert not connects(run, "127.0.0.1:9090")
    assert not connects(run, "1.1.1.1:8080")
    assert run.decide(Query("network-bind", local="127.0.0.1:3000")) == "allow"
    assert run.decide(Query("network-inbound", local="127.0.0.1:3000")) == "allow"
    assert run.decide(Query("network-inbound", local="10.0.0.1:3000")) == "deny"
    assert reaches(run, "/private/var/run/x.sock")
    assert not reaches(run, "/private/var/run/docker.sock")
    assert "(remote ip" in emitted(policy(net=listed))


def test_a_list_stands_above_what_is_hidden() -> None:
    made = policy(files(hide("/private/var/run")), network("none", unix("/var/run/x.sock")))
    assert reaches(evaluator(made), "/private/var/run/x.sock")
    assert not reaches(evaluator(made), "/private/var/run/y.sock")


def test_the_hosts_network() -> None:
    made = policy(files(write("/opt/w"), hide("/private/var/run/docker.sock")), network("host"))
    run = evaluator(made)
    assert connects(run, "1.1.1.1:443")
    assert reaches(run, "/private/var/run/mDNSResponder")
    assert not reaches(run, "/private/var/run/docker.sock")
    assert run.decide(Query("network-bind", "/opt/w/s")) == "allow"
    assert run.decide(Query("network-bind", "/Users/u/s")) == "deny"
    assert run.decide(Query("mach-lookup", name="com.apple.trustd")) == "allow"


UNDO = ("network*", "network-outbound", "network-bind")


@pytest.mark.parametrize("operation", UNDO)
@pytest.mark.parametrize("filters", [(), (where("remote", SbplWord("ip"), "*:*"),), (where("subpath", "/"),)])
def test_the_block_cannot_open_the_network(operation: str, filters: tuple[SbplFilter, ...]) -> None:
    run = evaluator(policy(block=seatbelt("allow", sbpl("allow", operation, *filters))))
    assert not connects(run, "1.1.1.1:443")
    assert not reaches(run, "/private/tmp/s")


def test_the_block_may_narrow_the_network() -> None:
    block = seatbelt("deny", sbpl("deny", "network-outbound", where("remote", SbplWord("ip"), "*:25")))
    run = evaluator(policy(net=network("host"), block=block))
    assert not connects(run, "1.1.1.1:25")
    assert connects(run, "1.1.1.1:443")


@pytest.mark.parametrize("default", ["allow", "deny"])
@pytest.mark.parametrize("operation", ["signal", "process-info*", "process-info-pidinfo", "process*", "mach*"])
@pytest.mark.parametrize("bare", [True, False])
def test_processes_outside_stay_out_of_reach(default: str, operation: str, bare: bool) -> None:
    filters = () if bare else (where("target", SbplWord("others")),)
    run = evaluator(
        policy(block=seatbelt("allow" if default == "allow" else "deny", sbpl("allow", operation, *filters)))
    )
    for name in ("signal", "process-info-pidinfo", "process-info-rusage", "mach-priv-task-port"):
        assert run.decide(Query(name, target="others")) == "deny", name
    for name in ("signal", "process-info-pidinfo"):
        assert run.decide(Query(name, target="self")) == "allow"
        assert run.decide(Query(name, target="same-sandbox")) == "allow"
    assert run.decide(Query("mach-task-read")) == "deny"


def test_operations_that_a_default_of_deny_does_not_reach_are_closed() -> None:
    run = evaluator(policy())
    for name in ("nvram-get", "iokit-get-properties", "dynamic-code-generation"):
        assert run.decide(Query(name)) == "deny"
    assert run.decide(Query("file-map-executable", "/dev/x")) == "deny"
    assert run.decide(Query("syscall-unix")) == "allow"


def test_what_a_process_needs_under_a_default_of_deny() -> None:
    run = evaluator(policy())
    assert run.decide(Query("process-fork")) == "allow"
    assert run.decide(Query("sysctl-read", name="hw.ncpu")) == "allow"
    assert run.decide(Query("mach-lookup", name="com.apple.system.opendirectoryd.libinfo")) == "allow"
    assert run.decide(Query("mach-lookup", name="com.apple.SecurityServer")) == "deny"
    assert run.decide(Query("process-exec*", "/usr/bin/env")) == "allow"


def test_the_block_stands_above_the_base() -> None:
    closed = evaluator(policy(block=seatbelt("deny", sbpl("deny", "mach*"), sbpl("allow", "dynamic-code-generation"))))
    assert closed.decide(Query("mach-lookup", name="com.apple.logd")) == "deny"
    assert closed.decide(Query("dynamic-code-generation")) == "allow"
    one = sbpl("deny", "mach*", where("global-name", "com.apple.logd"))
    run = evaluator(policy(block=seatbelt("deny", one)))
    assert run.decide(Query("mach-lookup", name="com.apple.logd")) == "deny"
    assert run.decide(Query("mach-lookup", name="com.apple.bsd.dirhelper")) == "allow"


def test_default_allow_is_told() -> None:
    artifact = SeatbeltTarget().emit(policy(block=seatbelt("allow")))
    assert any("Mach services" in note for note in artifact.notes)
    assert any(one.origin.text == "default allow" and one.direction == "narrower" for one in artifact.losses)
    run = evaluator(policy(block=seatbelt("allow", sbpl("allow", "lsopen"))))
    assert run.decide(Query("lsopen")) == "allow"
    assert run.decide(Query("appleevent-send")) == "deny"
    assert run.decide(Query("mach-lookup", name="com.example.any")) == "allow"


def test_an_import_is_taken_to_allow_everything() -> None:
    artifact = SeatbeltTarget().emit(policy(block=seatbelt("deny", imported("system.sb"))))
    text = artifact.files[0].content.decode()
    assert '(import "system.sb")' in text
    assert "(deny network* network-inbound network-bind network-outbound\n" in text
    assert "file-write-unlink" in text.split("root host")[1].split("(subpath")[1]
    assert any("`system.sb`" in note for note in artifact.notes)
    assert [one.origin.text for one in artifact.unread] == ["import system.sb"]


def test_what_an_import_may_undo_is_unread() -> None:
    logd = where("global-name", "com.apple.logd")
    block = seatbelt(
        "deny",
        sbpl("deny", "mach-lookup", logd),
        sbpl("allow", "lsopen"),
        imported("system.sb"),
        sbpl("deny", "mach-lookup", logd, logd),
        sbpl("deny", "mach*", logd),
        sbpl("deny", "lsopen"),
    )
    artifact = SeatbeltTarget().emit(policy(block=block))
    assert [one.origin.text for one in artifact.unread] == [
        "deny mach-lookup global-name",
        "import system.sb",
        "deny mach* global-name",
        "deny lsopen",
    ]
    without = seatbelt("deny", *(one for one in block.statements if one.origin.text != "import system.sb"))
    assert SeatbeltTarget().emit(policy(block=without)).unread == ()


def test_losses_of_the_block() -> None:
    block = seatbelt("deny", sbpl("allow", "file-write*", where("subpath", "/opt")), sbpl("allow", "mach-task-read"))
    found = {one.origin.text: one.direction for one in SeatbeltTarget().emit(policy(block=block)).losses}
    assert found["allow file-write* subpath"] == "narrower"
    assert found["allow mach-task-read"] == "wider"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (
            sbpl("allow", "file*"),
            "`file-clone`, `file-link`, `file-map-executable`, `file-mknod` and 8 more of",
        ),
        (sbpl("allow", "file-read-data", where("literal", "/x")), "`file-read-data`"),
        (sbpl("allow", "process*"), "`process-exec*`, `process-info*` of `process*`"),
        (sbpl("allow", "ipc*"), "`ipc-posix-shm*` of `ipc*`"),
        (sbpl("allow", "network*"), "`network*`"),
        (
            sbpl("allow", "default", where("subpath", "/")),
            "`network*`, `signal`, `file-clone`, `file-link` and 15 more of",
        ),
    ],
)
def test_an_allow_says_nothing_where_other_blocks_decide(rule: SbplRule, why: str) -> None:
    found = SeatbeltTarget().emit(policy(block=seatbelt("deny", rule))).losses
    (loss,) = (one for one in found if one.origin == rule.origin)
    assert loss.direction == "narrower"
    assert loss.why.startswith(f"the other blocks decide {why}")


def test_an_allow_of_what_no_block_decides_is_no_loss() -> None:
    rules = (sbpl("allow", "mach-lookup"), sbpl("allow", "file-ioctl"), sbpl("allow", "sysctl*"))
    found = SeatbeltTarget().emit(policy(block=seatbelt("deny", *rules))).losses
    assert not [one for one in found if one.origin.block == "seatbelt"]


@pytest.mark.parametrize("devices", ["none", "minimal", "standard", "host"])
def test_terminals_that_are_inherited_are_told(devices: Devices) -> None:
    losses = SeatbeltTarget().emit(policy(files(devices=devices))).losses
    assert any("TIOCSTI" in one.why and one.deferred for one in losses) == (devices in ("standard", "host"))


def test_statements_for_linux_alone_are_left_out() -> None:
    made = policy(files(read("/opt/a", on="linux"), read("/opt/b", on="macos")))
    text = emitted(made)
    assert '"/opt/a"' not in text
    assert '"/opt/b"' in text


def test_parameters_are_never_spliced() -> None:
    text = emitted(policy(files(write("${worktree}"), hide("~/.ssh"), read("${worktree}/.git")), params=(WORKTREE,)))
    assert '(subpath (param "worktree"))' in text
    assert '(subpath (string-append (param "worktree") "/.git"))' in text
    assert '(string-append (param ":HOME") "/.ssh")' in text
    assert PARAMS["worktree"] not in text

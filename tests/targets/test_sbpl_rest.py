"""The network, processes and the `seatbelt` block on macOS."""

import pytest

from sbc.backends.seatbelt.target import SeatbeltTarget
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.policy import Policy
from sbc.policy.seatbelt import SbplFilter, SbplWord, Seatbelt
from tests.targets.policies import (
    TMP,
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


def test_losses_of_the_block() -> None:
    block = seatbelt("deny", sbpl("allow", "file-write*", where("subpath", "/opt")), sbpl("allow", "mach-task-read"))
    found = {one.origin.text: one.direction for one in SeatbeltTarget().emit(policy(block=block)).losses}
    assert found["allow file-write* subpath"] == "narrower"
    assert found["allow mach-task-read"] == "wider"


def codes(made: Policy) -> list[str]:
    with pytest.raises(Failed) as failed:
        SeatbeltTarget().emit(made)
    return [f"{one.code} {one.title()} | {one.help() or ''}" for one in failed.value.diagnostics]


WRONG = {
    "default": (sbpl("allow", "default"), "SBX428 `allow default` is not how the default is said | write `default all"),
    "operation": (sbpl("allow", "mach-lokup"), "SBX420 unknown operation `mach-lokup` | did you mean `mach-lookup`?"),
    "no effect": (sbpl("allow", "qtn-download"), "SBX421"),
    "filter": (sbpl("allow", "mach-lookup", where("global-nam", "x")), "SBX422 unknown filter `global-nam` | did you"),
    "inner": (sbpl("allow", "file*", where("require-not", inner=(where("subpth", "/x"),))), "SBX422"),
    "misplaced": (sbpl("allow", "file-read*", where("global-name", "x")), "SBX423 `file-read*` does not take"),
    "host name": (
        sbpl("allow", "network-outbound", where("remote", SbplWord("tcp"), "api.github.com:443")),
        "SBX424 wrong argument of `remote`: `api.github.com:443` is not `*` or `localhost`",
    ),
    "address": (sbpl("allow", "network*", where("remote", SbplWord("ip"), "1.2.3.4:443")), "SBX424"),
    "port": (sbpl("allow", "network*", where("local", SbplWord("ip"), "*:70000")), "SBX424"),
    "protocol": (sbpl("allow", "network*", where("local", SbplWord("sctp"), "*:7")), "SBX424"),
    "word": (sbpl("allow", "signal", where("target", "self")), "SBX424"),
    "string": (sbpl("allow", "mach-lookup", where("global-name", SbplWord("x"))), "SBX424"),
    "empty": (sbpl("allow", "mach-lookup", where("global-name")), "SBX424"),
    "two": (
        sbpl("allow", "file*", where("require-not", inner=(where("subpath", "/x"), where("subpath", "/y")))),
        "SBX424 wrong argument of `require-not`: it takes exactly one filter",
    ),
    "not a word": (sbpl("allow", "signal", where("target", SbplWord("self) (x"))), "SBX424"),
    "tmp": (
        sbpl("deny", "file-read*", where("subpath", f"{TMP}/x")),
        "SBX425 `/tmp/x` never matches | write `/private/tmp/x`",
    ),
    "dots": (sbpl("deny", "file-read*", where("literal", "/a/../b")), "SBX425"),
    "doubled": (
        sbpl("deny", "file-read*", where("literal", "//tmp/./x/")),
        "SBX425 `//tmp/./x/` never matches | write",
    ),
    "newline": (sbpl("deny", "file-read*", where("literal", "/a\nb")), "SBX426"),
    "nul": (sbpl("deny", "mach-lookup", where("global-name", "a\0b")), "SBX426"),
    "not utf-8": (sbpl("deny", "mach-lookup", where("global-name", "a\udcff")), "SBX426"),
    "long": (sbpl("deny", "mach-lookup", where("global-name", "a" * 1023)), "SBX426"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_macos_would_refuse_or_never_match(name: str) -> None:
    rule, expected = WRONG[name]
    (got,) = codes(policy(block=seatbelt("deny", rule)))
    assert got.startswith(expected)


def test_all_errors_are_told_at_once() -> None:
    block = seatbelt("deny", sbpl("allow", "x"), sbpl("allow", "file*", where("y", "z")))
    assert len(codes(policy(files(read("/a\nb")), block=block))) == 3


@pytest.mark.parametrize("text", ["/a\nb", "/a\rb", "/a\udc80", "/" + "a" * 1024, "/a/../b"])
def test_paths_that_cannot_be_said(text: str) -> None:
    for made in (policy(files(hide(text))), policy(net=network("none", unix(text)))):
        (got,) = codes(made)
        assert got.startswith("SBX426")


def test_two_spellings_of_one_path() -> None:
    (got,) = codes(policy(files(read(TMP), write("/private/tmp"))))
    assert got.startswith("SBX427 `/private/tmp` and `/tmp` are both `/private/tmp` on macOS")
    assert emitted(policy(files(write(TMP), write("/private/tmp")))).count('"/private/tmp"') == 1
    assert emitted(policy(files(read(TMP, on="linux"), write("/private/tmp"))))


def known(block: Seatbelt) -> str:
    return emitted(policy(block=block, params=(WORKTREE,)))


def test_filters_that_real_profiles_use() -> None:
    rules = (
        sbpl("allow", "process-info*", where("target", SbplWord("same-sandbox"))),
        sbpl("allow", "iokit-open", where("iokit-registry-entry-class", "RootDomainUserClient")),
        sbpl("allow", "iokit-open", where("iokit-user-client-class", "AGXDeviceUserClient")),
        sbpl("allow", "sysctl-read", where("sysctl-name-prefix", "hw.")),
        sbpl("allow", "mach-lookup", where("global-name-regex", "^com\\.apple\\.")),
        sbpl("allow", "system-socket", where("require-all", inner=(where("socket-domain", SbplWord("AF_SYSTEM")),))),
        sbpl("allow", "file-ioctl", where("literal", "/dev/ptmx")),
        sbpl("allow", "network-outbound", where("remote", SbplWord("unix-socket"))),
        sbpl("allow", "user-preference-read", where("preference-domain", "kCFPreferencesAnyApplication")),
        sbpl("allow", "process-exec", where("literal", "/bin/ls")),
        sbpl("allow", "file-read*", where("vnode-type", SbplWord("DIRECTORY"))),
        sbpl("allow", "file-read*", where("file-mode", 0o111)),
    )
    text = known(seatbelt("deny", *rules))
    assert '(allow sysctl-read (sysctl-name-prefix "hw."))' in text
    assert '(allow mach-lookup (global-name-regex "^com\\\\.apple\\\\."))' in text


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

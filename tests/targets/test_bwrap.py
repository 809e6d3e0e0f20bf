"""Plans for bubblewrap: their words, and what they do not say."""

import pytest

from sbc.backends.bwrap.target import BwrapTarget
from sbc.backends.target import Unsayable
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.conditions import ALWAYS, AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.filesystem import PathRule, ProcRule
from sbc.policy.process import Environment, SetVariable
from sbc.policy.values import Param, ParamValue
from sbc_runtime.action import ALLOW, KILL_PROCESS, Action, Verdict, errno_verdict
from tests.targets.bwrap_plan import plan
from tests.targets.policies import (
    TMP,
    agent_check,
    bind,
    connect,
    files,
    filtered,
    gate,
    hide,
    identified,
    network,
    no_filter,
    origin,
    policy,
    read,
    rule,
    tmp,
    unix,
    write,
)


def has(words: list[str], *part: str) -> bool:
    return any(tuple(words[i : i + len(part)]) == part for i in range(len(words)))


def test_agent_check() -> None:
    words = plan(agent_check())
    for part in (
        ("--unshare-user",),
        ("--unshare-pid",),
        ("--unshare-ipc",),
        ("--unshare-uts",),
        ("--unshare-cgroup",),
        ("--unshare-net",),
        ("--cap-drop", "ALL"),
        ("--new-session",),
        ("--die-with-parent",),
        ("--uid", "1000"),
        ("--gid", "1000"),
        ("--hostname", "sandbox"),
        ("--ro-bind-try", "/usr", "/usr"),
        ("--bind", "${workdir}", "/work"),
        ("--sbc-inodes", "65536", "--perms", "1777", "--size", "536870912", "--tmpfs", "/tmp"),
        ("--ro-bind-try", "/proc/sys", "/proc/sys"),
        ("--sbc-hide-try", "/proc/kcore", "/proc/kcore"),
        ("--chdir", "/work"),
        ("--seccomp", "${:seccomp}"),
    ):
        assert has(words, *part), part
    assert words.count("--seccomp") == 1
    assert "65534" not in words
    read_only = words.index("--remount-ro", words.index("--sbc-seal"))
    assert words[read_only:] == [
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        "/work",
        "--seccomp",
        "${:seccomp}",
    ]
    (loss,) = BwrapTarget().emit(agent_check()).losses
    assert (loss.direction, loss.deferred) == ("wider", True)


def test_no_value_of_the_environment_stands_among_the_arguments() -> None:
    variable = SetVariable("TOKEN", "s3cret", origin("environment", "set TOKEN"))
    words = plan(policy(environment=Environment((), (variable,))))
    assert not [word for word in words if "s3cret" in word or "env" in word]


def test_without_a_filter_there_is_no_slot() -> None:
    assert "--seccomp" not in plan(policy(syscalls=no_filter()))


def test_order_is_by_depth_alone() -> None:
    rules = (hide("/opt/w/ro/h"), write("/opt/w"), read("/opt/w/ro"), write("${p}"), write("/opt/w/ro/h/out"))
    words = plan(policy(files(*rules), params=(Param("p", "dir"),)))
    assert words == plan(policy(files(*rules[::-1]), params=(Param("p", "dir"),)))
    places = [words.index(word) for word in ("/opt/w", "/opt/w/ro", "/opt/w/ro/h", "/opt/w/ro/h/out", "${p}")]
    assert places == sorted(places)
    assert has(words, "--sbc-seal", "/opt/w/ro/h")


def test_a_moved_path_takes_what_is_below_it_along() -> None:
    words = plan(policy(files(write("${workdir}", "/work"), read("${workdir}/.git", optional=True), root="private")))
    assert has(words, "--ro-bind-try", "${workdir}/.git", "/work/.git")


def test_writable_folders_above_a_protected_path_are_mount_points() -> None:
    words = plan(policy(files(write("${workdir}", "/work"), read("${workdir}/a/b/.git"), root="private")))
    assert has(words, "--bind-try", "${workdir}/a", "/work/a")
    assert has(words, "--bind-try", "${workdir}/a/b", "/work/a/b")
    assert words.count("--bind") == 1


def test_dollars_and_bytes_of_paths() -> None:
    words = plan(policy(files(write("/opt/${x}"), read("/opt/a\udcff\nb"))))
    assert has(words, "--bind", "/opt/$${x}", "/opt/$${x}")
    assert has(words, "--ro-bind", "/opt/a\udcff\nb", "/opt/a\udcff\nb")


def test_parameters_of_amounts_and_names() -> None:
    made = files(tmps=(tmp(TMP, ParamValue("room"), ParamValue("count")),))
    words = plan(policy(made, identity=(identified("hostname", ParamValue("name")), identified("user", 7))))
    assert has(words, "--sbc-inodes", "${count}", "--perms", "1777", "--size", "${room}", "--tmpfs", TMP)
    assert has(words, "--hostname", "${name}")


def test_a_hidden_home_is_hidden_by_both_names() -> None:
    words = plan(policy(files(hide("~/.ssh", optional=True))))
    assert has(words, "--sbc-hide-try", "${home}/.ssh", "${home}/.ssh")
    assert has(words, "--sbc-hide-try", "${:HOME}/.ssh", "${:HOME}/.ssh")


def test_what_macos_alone_has_is_left_out() -> None:
    assert "/private/tmp" not in plan(gate())
    assert TMP in plan(gate())


@pytest.mark.parametrize(
    "net",
    [
        network("host", unix("/run/x")),
        network("host", listed=True),
        network("none", connect(80)),
        network("none", bind(80)),
    ],
)
def test_a_network_list_cannot_be_said(net: object) -> None:
    with pytest.raises(Unsayable):
        BwrapTarget().emit(policy(net=net))  # type: ignore[arg-type]


def test_a_socket_without_a_network_is_mounted() -> None:
    words = plan(policy(net=network("none", unix("/run/x.sock"))))
    assert words.index("--sbc-hide-try") < words.index("/run/x.sock")
    assert has(words, "--ro-bind", "/run/x.sock", "/run/x.sock")
    assert "--unshare-net" in words
    assert "--unshare-net" not in plan(policy(net=network("host")))


def test_folders_of_sockets_are_covered_where_the_hosts_tree_is_visible() -> None:
    assert has(plan(gate()), "--sbc-hide-try", "/run", "/run")
    assert any("`/run`" in one.why and one.direction == "narrower" for one in BwrapTarget().emit(gate()).losses)
    assert "/run" not in plan(agent_check())
    assert not has(plan(policy(files(read("/run")))), "--sbc-hide-try", "/run", "/run")


def covers(*rules: object, **options: object) -> tuple[list[tuple[str, str]], list[tuple[str, str, str]]]:
    """Give the covers of socket folders in a plan, and the losses on sockets."""
    made = policy(files(*rules, **options))  # type: ignore[arg-type]
    words = plan(made)
    hidden = [(words[i + 1], words[i + 2]) for i, word in enumerate(words) if word == "--sbc-hide-try"]
    losses = [one for one in BwrapTarget().emit(made).losses if "socket" in one.why]
    return [pair for pair in hidden if not pair[0].startswith("${")], [
        (one.direction, one.origin.text, one.why) for one in losses
    ]


def test_covers_lie_where_the_hosts_folder_is_seen() -> None:
    here = [(one, one) for one in ("/run", TMP, "/var/run", "/var/tmp")]
    for rules, root in (((read("/"),), "host"), ((), "host"), ((read("/"),), "private"), ((write("/"),), "private")):
        hidden, losses = covers(*rules, root=root)
        assert sorted(hidden) == here
        assert [one[:2] for one in losses] == [("narrower", "network none")]
    hidden, losses = covers(write("/", "/host"), root="private")
    assert sorted(hidden) == [(one, f"/host{one}") for one, _ in here]
    assert "`/host/run`" in losses[0][2]
    assert covers(read("/usr"), root="private") == ([], [])
    hidden, losses = covers(hide("/var"), write("/opt", "/run"))
    assert hidden == [(TMP, TMP)]
    assert losses == [
        ("narrower", "network none", f"`{TMP}` are covered: the host's sockets there could be connected to")
    ]


@pytest.mark.parametrize(
    ("shown", "places"),
    [
        (read("/run"), "`/run`"),
        (read("/run", "/r"), "`/r`"),
        (write(TMP), f"`{TMP}`"),
        (read("/var"), "`/var/run`, `/var/tmp`"),
        (read("/var", "/v"), "`/v/run`, `/v/tmp`"),
        (read("/run/user/1000"), "`/run/user/1000`"),
        (read("/var/run/docker.sock"), "`/var/run/docker.sock`"),
        (write("${tmpdir}"), "`${tmpdir}`"),
    ],
)
def test_what_a_statement_shows_of_them_is_told(shown: PathRule, places: str) -> None:
    for root in ("private", "host"):
        _, losses = covers(shown, root=root)
        why = f"a socket of the host at or below {places} can be connected to, unless it is covered"
        assert ("wider", shown.origin.text, why) in losses
    assert not [one for one in BwrapTarget().emit(policy(files(shown), network("host"))).losses if "socket" in one.why]


def test_what_only_looks_like_them_is_not() -> None:
    assert covers(write("/tmp/build"), root="private") == ([], [])
    assert covers(read("/var"), hide("/var/run"), hide("/var/tmp"), root="private")[1] == []


def test_devices_are_the_sandboxes_own() -> None:
    assert has(plan(policy(files(read("/"), root="private", devices="none"))), "--tmpfs", "/dev")
    for devices in ("none", "minimal", "standard"):
        assert "/dev/kvm" not in plan(policy(files(hide("/dev/kvm"), devices=devices)))  # type: ignore[arg-type]
    words = plan(policy(files(hide("/dev/kvm"), hide("/dev/shm"), devices="host")))
    assert has(words, "--sbc-hide", "/dev/kvm", "/dev/kvm")
    assert not has(words, "--sbc-hide", "/dev/shm", "/dev/shm")


def test_ids_that_are_not_stated_are_left_open() -> None:
    words = plan(policy())
    for part in (("--uid", "${:user}"), ("--gid", "${:group}"), ("--hostname", "${:hostname}")):
        assert has(words, *part)
    words = plan(policy(identity=(identified("user", 7),)))
    assert has(words, "--uid", "7")
    assert has(words, "--gid", "${:group}")


def test_losses() -> None:
    made = policy(
        files(rule("read", "/opt", noexec=True), devices="host"),
        syscalls=filtered((101, "ptrace", Verdict(Action.TRACE, 1)), (41, "socket", Verdict(Action.NOTIFY))),
    )
    found = {(one.direction, one.origin.text) for one in BwrapTarget().emit(made).losses}
    assert {
        ("wider", "read /opt"),
        ("narrower", "devices host"),
        ("wider", "devices host"),
        ("narrower", "trace ptrace"),
    } <= found
    assert ("narrower", "notify socket") in found


def test_entries_of_processes_cannot_be_protected() -> None:
    with pytest.raises(Unsayable):
        BwrapTarget().emit(policy(proc=(ProcRule("read-only", "self/attr", origin("proc", "read-only self/attr")),)))


EPERM = errno_verdict(1)
WHEN = Masked(0, 32, 0xFFFFFFFF, 1)


@pytest.mark.parametrize(("call", "number"), [("execve", 59), ("wait4", 61)])
def test_a_filter_that_stops_bubblewrap_itself(call: str, number: int) -> None:
    with pytest.raises(Failed, match="SBX409"):
        BwrapTarget().emit(policy(syscalls=filtered((number, call, EPERM))))
    BwrapTarget().emit(policy(syscalls=filtered((number, call, ALLOW), (number, call, EPERM))))
    BwrapTarget().emit(policy(syscalls=filtered((number, call, ALLOW, WHEN), default=ALLOW)))


NULL = [Masked(arg, 64, 0xFFFFFFFFFFFFFFFF, 0) for arg in range(4)]
ANY = Masked(0, 32, 0xFFFFFFFF, 0xFFFFFFFF)


@pytest.mark.parametrize(
    ("number", "call", "verdict", "condition", "stops"),
    [
        (59, "execve", EPERM, Not(NULL[1]), True),
        (59, "execve", EPERM, AllOf((Not(NULL[0]), Not(NULL[2]))), True),
        (59, "execve", EPERM, AnyOf((NULL[0], Not(NULL[1]))), True),
        (59, "execve", EPERM, NULL[1], False),
        (59, "execve", EPERM, AnyOf((NULL[0], NULL[1], NULL[2])), False),
        (59, "execve", KILL_PROCESS, Between(0, 64, 1 << 32, (1 << 64) - 1), False),
        (61, "wait4", EPERM, ANY, True),
        (61, "wait4", EPERM, Not(WHEN), True),
        (61, "wait4", EPERM, WHEN, False),
        (61, "wait4", EPERM, Not(NULL[3]), False),
        (61, "wait4", EPERM, Not(Masked(2, 32, 0xFFFFFFFF, 0)), False),
        (1, "write", EPERM, ALWAYS, False),
        (1, "write", KILL_PROCESS, ALWAYS, True),
        (1, "write", KILL_PROCESS, Between(2, 64, 1, 4096), True),
        (1, "write", KILL_PROCESS, Between(2, 64, 9, 4096), False),
        (1, "write", KILL_PROCESS, Between(0, 32, 3, (1 << 32) - 1), False),
    ],
)
def test_a_condition_that_always_stops_it(
    number: int, call: str, verdict: Verdict, condition: Condition, stops: bool
) -> None:
    made = policy(syscalls=filtered((number, call, verdict, condition)))
    if stops:
        with pytest.raises(Failed, match="SBX409"):
            BwrapTarget().emit(made)
    else:
        BwrapTarget().emit(made)


def test_several_conditions_that_together_stop_it() -> None:
    low, high = Between(0, 64, 0, 1 << 40), Between(0, 64, (1 << 40) + 1, (1 << 64) - 1)
    with pytest.raises(Failed, match="SBX409"):
        BwrapTarget().emit(policy(syscalls=filtered((59, "execve", EPERM, low), (59, "execve", EPERM, high))))
    BwrapTarget().emit(policy(syscalls=filtered((59, "execve", EPERM, low), (59, "execve", ALLOW, high))))


def test_an_allow_list_that_stops_bubblewrap_itself() -> None:
    with pytest.raises(Failed) as failed:
        BwrapTarget().emit(policy(syscalls=filtered((59, "execve", ALLOW), default=KILL_PROCESS)))
    assert [one.title().split("`")[1] for one in failed.value.diagnostics] == ["wait4", "write"]


def test_kinds_of_devices_that_are_not_stated_are_minimal() -> None:
    assert plan(policy(files(devices=None))) == plan(policy(files(devices="minimal")))

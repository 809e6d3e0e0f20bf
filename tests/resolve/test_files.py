"""The `files` and `proc` blocks: paths, places, repeats, inheritance."""

import pytest

from sbc.policy.filesystem import PathRule
from sbc.policy.values import ParamValue, PathValue
from tests.resolve.lowered import codes, policy, with_blocks, with_files

WORK = "param work : dir"


def rules(statements: str, more: str = "") -> dict[str, PathRule]:
    return {str(rule.path): rule for rule in policy(with_files(statements, more)).files.rules}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("/usr/", PathValue(None, "/usr")),
        ("//usr//./lib/.", PathValue(None, "/usr/lib")),
        ("/", PathValue(None, "/")),
        ("/.", PathValue(None, "/")),
        ('"/a b/*"', PathValue(None, "/a b/*")),
        ("~", PathValue("home", "")),
        ("~/.ssh/", PathValue("home", "/.ssh")),
        ("${home}", PathValue("home", "")),
        ("${tmpdir}/x", PathValue("tmpdir", "/x")),
        ("${work}/./", PathValue("work", "")),
        ("${work}//a", PathValue("work", "/a")),
        ('"/\\${work}"', PathValue(None, "/${work}")),
    ],
)
def test_paths_are_normalised(written: str, expected: PathValue) -> None:
    (rule,) = policy(with_files(f"read {written}", WORK)).files.rules
    assert rule.path == expected


def test_options_and_groups() -> None:
    text = (
        "sbx 1\ngroup @keys { ~/.ssh ~/.aws }\nprofile p { files {\n"
        '  read /opt as /work/opt identity "tools" noexec\n  hide @keys optional\n} }\n'
    )
    opt, ssh, aws = policy(text).files.rules
    assert (opt.place, opt.identity, opt.noexec, opt.optional) == (PathValue(None, "/work/opt"), "tools", True, False)
    assert [str(rule.path) for rule in (ssh, aws)] == ["${home}/.ssh", "${home}/.aws"]
    assert ssh.optional
    assert ssh.origin is aws.origin
    assert ssh.origin.text == "hide @keys optional"


def test_as_moves_what_is_stated_below() -> None:
    found = rules("write ${work} as /work\nread ${work}/.git\nread ${work}/a as /b\nhide ${work}/a/c\nread /usr", WORK)
    assert {path: rule.place and str(rule.place) for path, rule in found.items()} == {
        "${work}": "/work",
        "${work}/.git": "/work/.git",
        "${work}/a": "/b",
        "${work}/a/c": "/b/c",
        "/usr": None,
    }


def test_as_on_one_system_moves_there_alone() -> None:
    found = policy(with_files("on linux { read /opt as /o }\non macos { read /opt }\nhide /opt/x")).files.rules
    assert [(str(rule.path), rule.place and str(rule.place), rule.origin.on) for rule in found] == [
        ("/opt", "/o", "linux"),
        ("/opt", None, "macos"),
        ("/opt/x", "/o/x", "linux"),
        ("/opt/x", None, "macos"),
    ]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("read /usr\nwrite /usr/", ["SBX304"]),
        ("on linux { read /usr }\non macos { write /usr }", []),
        ("read /usr\non macos { write /usr }", ["SBX304"]),
        ("read ~/x\nhide ${home}/x", ["SBX304"]),
        ("read /usr\nread /usr", ["SBX307"]),
        ("read /usr\nread /usr optional", ["SBX306"]),
        ("read /a as /x\nread /b as /x", ["SBX305"]),
        ("read /tmp\ntmp /tmp", ["SBX305"]),
        ("tmp /tmp\ntmp /tmp/", ["SBX305"]),
        ("on macos { write /tmp }\non linux { tmp /tmp }", []),
        ("write ${cwd} as /w\nread ${cwd}/a\ntmp /w/a", ["SBX305"]),
        ("read /usr/../etc", ["SBX301"]),
        ('read "/a\\nb"', ["SBX302"]),
        ("read { /a /b } as /c", ["SBX308"]),
        ("hide /a as /b", ["SBX309"]),
        ("root host\nroot host", ["SBX224"]),
        ("on linux { root host }\non macos { root private }", []),
        ("start-in /a\nstart-in /b", ["SBX224"]),
        ("tmp /tmp size 4096", ["SBX336"]),
        ("read /etc as /a\nread /etc as /b", ["SBX318"]),
        ("write /proc as /hp", ["SBX313"]),
        ("read /proc/1 as /p1", ["SBX313"]),
        ("root host\nread /proc", ["SBX313"]),
        ("on macos { read /proc }", []),
        ("write / as /host", ["SBX315"]),
        ("read / as /host", ["SBX315"]),
        ("on macos { read / as /host }", []),
        ("read / as /", []),
        ("read /dev", ["SBX313"]),
        ("write /dev/fuse", ["SBX313"]),
        ("read /dev/pts", ["SBX313"]),
        ("hide /dev/kvm", []),
        ("read /usr as /dev", ["SBX314"]),
        ("read /usr as /proc/self", ["SBX314"]),
        ("tmp /proc", ["SBX314"]),
        ("tmp /dev/shm", ["SBX314"]),
        ("write /usr as /x\nread /usr/dev as /dev/pts", ["SBX314"]),
        ("read /sys as /s", []),
        ("write /sys/fs", ["SBX316"]),
        ("hide /", ["SBX317"]),
        ("root host\nhide /", ["SBX317"]),
    ],
)
def test_repeats_and_refusals(statements: str, expected: list[str]) -> None:
    assert codes(with_files(statements)) == expected


def test_a_default_of_a_parameter_is_looked_at() -> None:
    assert codes(with_files("read ${p}/1 as /x", "param p : dir = /proc")) == ["SBX313"]
    assert codes(with_files("read ${p}/x", "param p : dir = /srv")) == []


def test_below_a_writable_root_sysfs_stays_read_only() -> None:
    found = policy(with_files("root host\nwrite /")).files.rules
    assert [(rule.access, str(rule.path), rule.origin.on, rule.optional) for rule in found] == [
        ("write", "/", None, False),
        ("read", "/sys", "linux", True),
    ]
    assert found[1].origin.text == "/sys stays read-only (`write /`)"
    for said in ("read /sys", "hide /sys"):
        assert len(rules(f"write /\n{said}")) == 2
    assert len(rules("on macos { write / }")) == 1


def test_defaults_where_nothing_is_stated() -> None:
    files = policy(with_files("on linux { root host; devices standard }\nread /usr")).files
    assert [(one.kind, one.origin.on, one.origin.text) for one in files.roots] == [
        ("host", "linux", "root host"),
        ("private", "macos", "no `root` statement"),
    ]
    assert [(one.kind, one.origin.on) for one in files.devices] == [("standard", "linux"), ("minimal", "macos")]
    assert [(one.path, one.origin.on) for one in files.start_in] == [(None, None)]


def test_budgets_and_parameters() -> None:
    text = "tmp /tmp size ${budget} inodes 10 noexec"
    (tmp,) = policy(with_files(text, "param budget : size = 1GiB")).files.tmps
    assert (tmp.size, tmp.inodes, tmp.noexec) == (ParamValue("budget"), 10, True)


BASE = "profile base { files { root host; write { /w /x }; read /r optional; tmp /t; devices none; start-in /w } }"


def test_a_childs_statement_on_a_path_replaces_the_parents() -> None:
    child = (
        "profile child extends base { files { read /w; on linux { hide /x }; write /t; root private\n"
        "  on macos { start-in /x } } }"
    )
    found = policy(f"sbx 1\n{BASE}\n{child}\n", "child")
    assert [(rule.access, str(rule.path), rule.origin.on) for rule in found.files.rules] == [
        ("read", "/w", None),
        ("hide", "/x", "linux"),
        ("write", "/t", None),
        ("write", "/x", "macos"),
        ("read", "/r", None),
    ]
    assert found.files.tmps == ()
    assert [one.kind for one in found.files.roots] == ["private"]
    assert [(str(one.path), one.origin.on) for one in found.files.start_in] == [("/x", "macos"), ("/w", "linux")]
    assert [(one.child.text, one.parent.text) for one in found.overrides] == [
        ("read /w", "write { /w /x }"),
        ("hide /x", "write { /w /x }"),
        ("write /t", "tmp /t"),
        ("root private", "root host"),
        ("start-in /x", "start-in /w"),
    ]


def test_files_must_be_stated() -> None:
    assert codes("sbx 1\nprofile p { network none }\n") == ["SBX300"]


def test_proc_entries() -> None:
    head = "group @hidden { /proc/kcore /proc/keys }"
    text = (
        f"sbx 1\n{head}\nprofile p {{ files {{ read / }}\n proc {{ read-only {{ sys /proc/bus/ }}; hide @hidden }} }}\n"
    )
    assert [(rule.access, rule.entry) for rule in policy(text).proc] == [
        ("read-only", "sys"),
        ("read-only", "bus"),
        ("hide", "kcore"),
        ("hide", "keys"),
    ]


def test_proc_masks_of_containers_by_default() -> None:
    found = policy(with_blocks("")).proc
    assert {rule.entry for rule in found if rule.access == "read-only"} == {"bus", "fs", "irq", "sys", "sysrq-trigger"}
    assert {rule.entry for rule in found if rule.access == "hide"} == {
        "acpi", "asound", "kcore", "keys", "kmsg", "latency_stats", "sched_debug", "scsi", "timer_list", "timer_stats",
    }  # fmt: skip
    assert {rule.origin.text for rule in found} == {"no `proc` block"}
    assert policy(with_blocks("proc { }")).proc == ()


def test_proc_conflicts() -> None:
    assert codes(with_blocks("proc { read-only sys; hide /proc/sys }")) == ["SBX311"]
    assert codes(with_blocks("proc { hide { sys sys } }")) == ["SBX334"]
    assert codes(with_blocks("proc { hide /sys }")) == ["SBX310"]

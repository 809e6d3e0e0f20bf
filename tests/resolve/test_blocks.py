"""Network, environment, identity, limits, seatbelt, parameters."""

import pytest

from sbc.policy.network import LocalPort, UnixSocket
from sbc.policy.process import IdRange
from sbc.policy.seatbelt import SbplFilter, SbplRule, SbplString, SbplWord
from sbc.policy.values import Param, ParamValue, PathValue
from tests.resolve.lowered import FILES, codes, policy, told, with_blocks, with_files


def test_network() -> None:
    found = policy(with_blocks("network none { connect localhost:80; bind localhost:*\n unix ~/s }")).network
    assert (found.mode, found.listed, found.origin.text) == ("none", True, "network none")
    local, every, unix = found.allowances
    assert isinstance(local, LocalPort)
    assert (local.verb, local.port, local.origin.text) == ("connect", 80, "connect localhost:80")
    assert isinstance(every, LocalPort)
    assert (every.verb, every.port) == ("bind", None)
    assert isinstance(unix, UnixSocket)
    assert unix.path == PathValue("home", "/s")
    default = policy(with_blocks("")).network
    assert (default.mode, default.listed, default.origin.text) == ("none", False, "no `network` block")
    assert not policy(with_blocks("network host")).network.listed


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("network none { connect example.com:80 }", ["SBX332"]),
        ("network none { connect localhost:0 }", ["SBX333"]),
        ("network none { connect localhost:65536 }", ["SBX333"]),
        ('environment { set A = "1"; set A = "2" }', ["SBX224"]),
        ('environment { set A = "1"\n on linux { set A = "2" } }', ["SBX224"]),
        ('environment { on macos { set A = "1" }\n on linux { set A = "2" } }', []),
        ("environment { keep { A A } }", ["SBX334"]),
        ("identity { user 4294967295 }", ["SBX335"]),
        ("identity { user 1..2 }", ["SBX336"]),
        ("identity { host-user 2..1 }", ["SBX335"]),
        ("identity { hostname 1 }", ["SBX336"]),
        ('identity { hostname "" }', ["SBX337"]),
        ('identity { hostname "a..b" }', ["SBX337"]),
        ('identity { hostname "a_b" }', ["SBX337"]),
        (f'identity {{ hostname "{"a." * 32}b" }}', ["SBX337"]),
        ('identity { hostname "a.b-c.D9" }', []),
        ("identity { user 1; user 2 }", ["SBX224"]),
        ("limits { wall 0ms }", ["SBX338"]),
        ("limits { core-size 0 }", []),
        ("limits { core-size 0B; memory 512B }", []),
        ("limits { core-size 5 }", ["SBX336"]),
        ("limits { memory 512 }", ["SBX336"]),
        ("limits { cpu 5 }", ["SBX336"]),
        ("limits { processes 5s }", ["SBX336"]),
        ("limits { processes 9223372036854775808 }", ["SBX339"]),
        ("seatbelt { default allow; default deny }", ["SBX224"]),
        ("network none\nnetwork none", ["SBX291"]),
    ],
)
def test_what_is_refused(block: str, expected: list[str]) -> None:
    assert codes(with_blocks(block)) == expected


def test_environment_identity_limits() -> None:
    found = policy(
        with_blocks(
            'environment { keep { PATH LC_* }; drop *KEY*; set A = "x=\\n"; set B = ${b} }\nparam b : text\n'
            'identity { user 0; host-user 5..9; hostname "h" }\n'
            "limits { wall 10min; memory 2GiB; processes 3; core-size 0 }"
        )
    )
    assert [(one.verb, one.pattern) for one in found.environment.patterns] == [
        ("keep", "PATH"),
        ("keep", "LC_*"),
        ("drop", "*KEY*"),
    ]
    assert [(one.name, one.value) for one in found.environment.variables] == [("A", "x=\n"), ("B", ParamValue("b"))]
    assert [(one.key, one.value) for one in found.identity] == [
        ("user", 0),
        ("host-user", IdRange(5, 9)),
        ("hostname", "h"),
    ]
    assert [(one.key, one.value) for one in found.limits] == [
        ("wall", 600_000),
        ("memory", 2 << 30),
        ("processes", 3),
        ("core-size", 0),
    ]


def test_defaults_of_blocks_that_are_not_there() -> None:
    found = policy(with_blocks(""))
    assert [(one.key, one.value, one.origin.text) for one in found.limits] == [("core-size", 0, "no `limits` block")]
    assert found.identity == ()
    assert found.environment.patterns == found.environment.variables == ()
    assert (found.seatbelt.default.action, found.seatbelt.default.origin.text) == ("deny", "no `seatbelt` block")


def test_seatbelt_is_handed_on_in_order() -> None:
    child = 'profile c extends p { seatbelt { allow signal\n import "x.sb" } }'
    text = with_blocks(
        'seatbelt { default allow\n deny mach-lookup file-read* {\n global-name "a"\n'
        ' require-not { subpath "/x" }\n socket-domain AF_UNIX 3 } }'
    )
    found = policy(text).seatbelt
    (rule,) = found.statements
    assert isinstance(rule, SbplRule)
    assert rule.operations == ("mach-lookup", "file-read*")
    assert rule.filters == (
        SbplFilter("global-name", (SbplString("a"),)),
        SbplFilter("require-not", (), (SbplFilter("subpath", (SbplString("/x"),)),)),
        SbplFilter("socket-domain", (SbplWord("AF_UNIX"), 3)),
    )
    assert rule.origin.text == (
        'deny mach-lookup file-read* { global-name "a"; require-not { subpath "/x" }; socket-domain AF_UNIX 3 }'
    )
    inherited = policy(f"{text}\n{child}\n", "c").seatbelt
    assert inherited.default.action == "allow"
    assert [one.origin.text.split()[0] for one in inherited.statements] == ["deny", "allow", "import"]


def test_parameters() -> None:
    more = (
        'param w : dir = /a//b/\nparam t : text = "x"\nparam s : size = 1KiB\nparam d : duration = 2s\n'
        "param n : integer = 3"
    )
    text = with_files(
        "read ${w}", more + "\nenvironment { set T = ${t} }\nlimits { memory ${s}; wall ${d}; processes ${n} }"
    )
    assert policy(text).params == (
        Param("w", "dir", "/a/b"),
        Param("t", "text", "x"),
        Param("s", "size", 1024),
        Param("d", "duration", 2000),
        Param("n", "integer", 3),
    )


@pytest.mark.parametrize(
    ("statements", "more", "expected"),
    [
        ("read ${wrk}", "param work : dir", ["SBX360", "SBX366"]),
        ("read ${t}", "param t : text", ["SBX361"]),
        ("read /a", "limits { memory ${n} }\nparam n : integer", ["SBX361"]),
        ("read /a", "limits { processes ${n} }\nparam n : integer = 0", ["SBX338"]),
        ("read /a", "environment { set A = ${home} }", ["SBX361"]),
        ("read ${cwd}", "param cwd : dir", ["SBX364"]),
        ("read ${a}", "param a : dir\nparam a : dir", ["SBX365"]),
        ("read /a", "param a : dir", ["SBX366"]),
        ("read ${a}", "param a : dir = 5", ["SBX363"]),
        ("read ${a}", "param a : dir = ~/x", ["SBX363"]),
    ],
)
def test_parameters_stand_where_their_type_can(statements: str, more: str, expected: list[str]) -> None:
    assert codes(with_files(statements, more)) == expected


def test_a_childs_parameter_replaces_the_parents() -> None:
    text = (
        f"sbx 1\nprofile p {{ param a : size = 1KiB\n {FILES}\n limits {{ memory ${{a}} }} }}\n"
        "profile c extends p { param a : size = 2KiB }\n"
    )
    found = policy(text, "c")
    assert found.params == (Param("a", "size", 2048),)
    assert [(one.child.text, one.parent.text) for one in found.overrides] == [
        ("param a : size = 2KiB", "param a : size = 1KiB")
    ]


def test_blocks_are_inherited_by_subject() -> None:
    text = (
        f'sbx 1\nprofile p {{ {FILES}\n limits {{ wall 1s; cpu 1s }}\n environment {{ keep A; set B = "1" }}\n'
        " identity { user 1; group 1 }\n network host }\n"
        'profile c extends p { limits { wall 2s }\n environment { drop A; set B = "2" }\n identity { user 2 }\n'
        " network none }\n"
    )
    found = policy(text, "c")
    assert [(one.key, one.value) for one in found.limits] == [("wall", 2000), ("cpu", 1000)]
    assert [(one.verb, one.pattern) for one in found.environment.patterns] == [("drop", "A")]
    assert [one.value for one in found.environment.variables] == ["2"]
    assert [(one.key, one.value) for one in found.identity] == [("user", 2), ("group", 1)]
    assert found.network.mode == "none"
    assert len(found.overrides) == 5


def test_statements_are_listed_once_in_the_order_of_the_source() -> None:
    text = with_blocks(
        "limits { wall 1s }\n# between\nsyscalls { default allow\n deny EPERM {\n  kcmp # why\n  ptrace } }"
    )
    found, _ = told(text)
    assert found is not None
    written = [one.text for one in found.statements() if one.span]
    assert written == ["root private", "read /usr", "wall 1s", "default allow", "deny EPERM { kcmp ptrace }"]
    assert "no `network` block" in [one.text for one in found.statements()]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("param f : file\nfiles { root private; read ${f}/x }", "SBX368"),
        ("param f : file\nfiles { root private; read ${f}/ }", None),
        ("param f : file\nfiles { root private; read ${f} }", None),
        ("param f : path\nfiles { root private; read ${f}/x }", None),
        ('files { root private; write /a identity "X" }', "SBX309"),
        ('files { root private; hide /a identity "X" }', "SBX309"),
        ('files { root private; read /a identity "X" }', None),
        ("param x : size = 0KiB\nfiles { root host }\nlimits { memory ${x} }", "SBX338"),
        ("param x : duration = 0s\nfiles { root host }\nlimits { wall ${x} }", "SBX338"),
        ("param x : size = 0KiB\nfiles { root host }\nlimits { core-size ${x} }", None),
        ("param d : dir = ~/x\nfiles { root private; read ${d} }", "SBX363"),
        ('files { root host }\nenvironment { set A = "\\u{00000041}" }', None),
        ('files { root host }\nenvironment { set A = "\\u{00110000}" }', "SBX108"),
        ('files { root host }\nenvironment { set A = "\\u{000000041}" }', "SBX108"),
        ('files { root host }\nenvironment { set 1A = "x" }', "SBX118"),
        ("files { root host }\nsyscalls { default allow; include @stock-denylits }", "SBX204"),
    ],
)
def test_small_things_that_are_wrong_or_not(text: str, code: str | None) -> None:
    assert codes(f"sbx 1\nprofile p {{\n{text}\n}}\n") == ([code] if code else [])


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("profile 1a { files { root host } }", "a name does not start with a digit"),
        ("profile p { files { root host }\nidentity { user root } }", "write it as a number"),
        ("profile p { files { root host }\nsyscalls { default allow; include @stock-denylits } }", "of `<stock>`"),
        ("profile p { param d : dir = ~/x\nfiles { root host; write ${d} } }", "leave it out"),
    ],
)
def test_what_to_write_instead(text: str, advice: str) -> None:
    helps = [one.help() or "" for one in told(f"sbx 1\n{text}\n")[1].diagnostics]
    assert any(advice in help_text for help_text in helps)


def test_an_article_fits_its_word() -> None:
    found = told("sbx 1\nprofile p { param n : integer\nfiles { root host; write ${n} } }\n")[1].diagnostics
    assert found[0].title() == "`${n}` is an `integer`, here a path is needed"

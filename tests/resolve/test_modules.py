"""Files: `use`, names across files, which profile."""

import hashlib
from pathlib import Path

import pytest

from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.resolve.lower import check_definitions, lower
from sbc.resolve.modules import MAX_DEPTH, MAX_FILES, load
from tests.resolve.lowered import FILES, codes, policy, told, with_calls

PROFILE = f"profile p {{ {FILES} }}\n"


def test_sources_are_named_relative_to_the_main_file() -> None:
    files = {"lib/a.sbx": 'sbx 1\nuse "../b.sbx"\nuse <groups>\n', "b.sbx": "sbx 1\n"}
    found = policy(f'sbx 1\nuse "lib/a.sbx"\nuse "b.sbx"\n{PROFILE}', files=files)
    names = {one.name: one.sha256 for one in found.sources}
    assert list(names) == ["main.sbx", "lib/a.sbx", "b.sbx", "<groups>", "<stock>"]
    assert names["b.sbx"] == hashlib.sha256(b"sbx 1\n").hexdigest()


def test_a_file_reached_twice_is_one(tmp_path: Path) -> None:
    (tmp_path / "a.sbx").write_text("sbx 1\ngroup @g { ptrace }\n")
    (tmp_path / "b.sbx").symlink_to("a.sbx")
    (tmp_path / "main.sbx").write_text(f'sbx 1\nuse "a.sbx"\nuse "./b.sbx"\nuse "a.sbx"\n{PROFILE}')
    reporter = Reporter()
    modules = load(tmp_path / "main.sbx", reporter)
    assert [module.name for module in modules] == ["main.sbx", "a.sbx"]
    assert lower(modules, None, reporter).name == "p"


@pytest.mark.parametrize(
    ("head", "files", "expected"),
    [
        ('use "no.sbx"', {}, ["SBX280"]),
        ('use "."', {}, ["SBX280"]),
        ('use "/x.sbx"', {}, ["SBX283"]),
        ("use <grups>", {}, ["SBX281"]),
        ('use "main.sbx"', {}, ["SBX282"]),
        ('use "a.sbx"', {"a.sbx": 'sbx 1\nuse "b.sbx"\n', "b.sbx": 'sbx 1\nuse "a.sbx"\n'}, ["SBX282"]),
        ('use "a.sbx"\nuse "b.sbx"', {"a.sbx": "sbx 1\nwrong\n", "b.sbx": "sbx 1\nwrong\n"}, ["SBX102", "SBX102"]),
    ],
)
def test_use_that_fails(head: str, files: dict[str, str], expected: list[str]) -> None:
    found = codes(f"sbx 1\n{head}\n{PROFILE}", files=files)
    assert len(found) == len(expected)
    assert [code[:4] for code in found] == [code[:4] for code in expected]


def test_a_cycle_shows_the_chain() -> None:
    files = {"a.sbx": 'sbx 1\nuse "b.sbx"\n', "b.sbx": 'sbx 1\nuse "a.sbx"\n'}
    _, reporter = told(f'sbx 1\nuse "a.sbx"\n{PROFILE}', files=files)
    assert [one.label() for one in reporter.diagnostics] == ["a.sbx -> b.sbx -> a.sbx"]


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.sbx").symlink_to("b.sbx")
    (tmp_path / "b.sbx").symlink_to("a.sbx")
    (tmp_path / "main.sbx").write_text(f'sbx 1\nuse "a.sbx"\n{PROFILE}')
    for name in ("main.sbx", "a.sbx"):
        reporter = Reporter()
        with pytest.raises(Failed):
            load(tmp_path / name, reporter)
        assert len(reporter.diagnostics) == 1
        assert str(tmp_path) not in reporter.diagnostics[0].title()


def test_number_and_depth_are_bounded() -> None:
    many = {f"f{i}.sbx": "sbx 1\n" for i in range(MAX_FILES + 1)}
    assert "SBX284" in codes("sbx 1\n" + "".join(f'use "{name}"\n' for name in many) + PROFILE, files=many)
    deep = {f"f{i}.sbx": f'sbx 1\nuse "f{i + 1}.sbx"\n' for i in range(MAX_DEPTH)} | {f"f{MAX_DEPTH}.sbx": "sbx 1\n"}
    assert codes(f'sbx 1\nuse "f0.sbx"\n{PROFILE}', files=deep) == ["SBX284"]


def test_names_are_seen_where_they_are_used() -> None:
    files = {
        "near.sbx": 'sbx 1\nuse "far.sbx"\ngroup @near { @far kcmp }\n',
        "far.sbx": "sbx 1\ngroup @far { ptrace }\ngroup @own { reboot }\n",
    }
    head = 'use "near.sbx"\ngroup @own { mount }'
    found = policy(with_calls("deny EPERM { @near @far @own }", head=head), files=files)
    assert [rule.call for rule in found.syscalls.filters[0].abis[0].rules] == ["ptrace", "kcmp", "mount"]


def test_a_name_is_defined_once_among_near_files() -> None:
    files = {"a.sbx": "sbx 1\ngroup @g { ptrace }\n", "b.sbx": "sbx 1\ngroup @g { kcmp }\n"}
    assert codes(with_calls("", head='use "a.sbx"\ngroup @g { mount }'), files=files) == ["SBX213"]
    assert codes(with_calls("", head='use "a.sbx"\nuse "b.sbx"'), files=files) == ["SBX213"]
    assert codes(with_calls("", head="group @g { mount }\nrules @g { }")) == ["SBX213"]


def test_which_profile() -> None:
    two = f"sbx 1\nprofile a {{ {FILES} }}\nprofile b {{ {FILES} }}\n"
    assert codes(two) == ["SBX286"]
    assert policy(two, "b").name == "b"
    assert codes(two, "c") == ["SBX287"]
    assert codes("sbx 1\ngroup @g { ptrace }\n") == ["SBX285"]


def test_extends() -> None:
    assert codes("sbx 1\nprofile a extends b { files { read / } }\n") == ["SBX287"]
    both = "sbx 1\nprofile a extends b { files { read / } }\nprofile b extends a { files { read / } }\n"
    _, reporter = told(both, "a")
    assert [(one.code, one.label()) for one in reporter.diagnostics] == [("SBX288", "a -> b -> a")]

    def chain(length: int) -> str:
        return "sbx 1\nprofile p0 { files { read / } }\n" + "".join(
            f"profile p{i} extends p{i - 1} {{ }}\n" for i in range(1, length)
        )

    assert codes(chain(16), "p15") == []
    assert codes(chain(17), "p16") == ["SBX289"]
    assert codes(chain(17), "p0") == ["SBX289"]


def test_a_parents_names_are_those_of_its_own_file() -> None:
    rules = "syscalls { abi x86_64; default allow; deny EPERM @g }"
    base = f"sbx 1\ngroup @g {{ ptrace }}\nprofile base {{ {FILES}\n {rules} }}\n"
    text = 'sbx 1\nuse "base.sbx"\nprofile c extends base { }\n'
    (rule,) = policy(text, files={"base.sbx": base}).syscalls.filters[0].abis[0].rules
    assert (rule.call, rule.origin.file) == ("ptrace", "base.sbx")


def test_groups_are_checked_whether_used_or_not() -> None:
    assert codes(with_calls("", head="group @g { ptrace AF_UNIX }")) == ["SBX211"]
    assert codes(with_calls("", head="group @g { @g }")) == ["SBX212"]
    assert codes(with_calls("", head="group @g { ptrcae CLONE_NEWUSR }")) == ["SBX201", "SBX202"]
    assert codes(with_calls("", head="rules @r { deny EPRM kcmp }")) == ["SBX207"]
    assert codes(with_calls("", head="group @paths { ${work} }")) == ["SBX367"]


def test_a_library_is_checked_by_itself(tmp_path: Path) -> None:
    main = tmp_path / "lib.sbx"
    main.write_text(
        "sbx 1\ngroup @g { ptrcae }\nrules @r { deny EPRM kcmp; deny EPERM @nope; deny EPERM close when x == 1 }\n"
    )
    reporter = Reporter()
    with pytest.raises(Failed):
        check_definitions(load(main, reporter), reporter)
    assert [one.code for one in reporter.diagnostics] == ["SBX201", "SBX204", "SBX207", "SBX208"]


class TestOtherProfiles:
    """The errors of a file are told whichever of its profiles is asked for."""

    BAD = "profile b { files { root host } %s }"

    @pytest.mark.parametrize(
        ("block", "code"),
        [
            ("syscalls { default allow; deny EPERM sokcet }", "SBX201"),
            ("limits { wall 0s }", "SBX338"),
            ("environment { set A = ${nowhere} }", "SBX360"),
            ("syscalls { default allow; include @nowhere }", "SBX204"),
        ],
    )
    def test_an_error_of_another(self, block: str, code: str) -> None:
        text = f"sbx 1\nprofile a {{ files {{ root host }} }}\n{self.BAD % block}\n"
        assert codes(text, "a") == [code]
        assert codes(text, "b") == [code]

    def test_the_lints_and_notes_of_another_are_its_own(self) -> None:
        text = "sbx 1\nprofile a { files { root host } }\nprofile b { param d : dir\nfiles { root host } }\n"
        assert codes(text, "a") == []
        assert codes(text, "b") == ["SBX366"]

"""`sbc check`, `explain`, `eval`, `disasm`, `docs`, `fmt`: answers, exit statuses, and JSON as the contract has it."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PROFILES, ROOT, Profile, Sbc

AGENT = PROFILES / "agent-check.sbx"


@pytest.fixture
def filter_file(sbc: Sbc, tmp_path: Path) -> Path:
    assert sbc("compile", AGENT, "-o", "out", "--target", "bpf").status == 0
    return tmp_path / "out" / "agent-check.x86_64.bpf"


def test_check_says_the_figures_of_each_filter(sbc: Sbc) -> None:
    said = sbc("check", AGENT)
    assert said.status == 0
    assert "agent-check: x86_64: 5" in said.out
    assert "413 on x86_64" in said.out
    figures = sbc("check", AGENT, "--json").json()["files"][0]["profiles"][0]["filters"]
    assert [one["name"] for one in figures] == ["x86_64", "aarch64"]
    assert figures[0]["instructions"] <= 55
    assert figures[0]["const_allow"] == {"x86_64": 413}
    assert figures[0]["proof_ms"] >= 0


def test_check_of_a_library_and_of_several_files(sbc: Sbc) -> None:
    said = sbc("check", PROFILES / "lib" / "stock.sbx", AGENT)
    assert said.status == 0
    assert "stock.sbx: no profile" in said.out


def test_check_tells_lints_and_errors_apart(sbc: Sbc, profile: Profile) -> None:
    text = "sbx 1\nprofile p { syscalls { abi x86_64; default allow }; files { root host } }\n"
    assert sbc("check", profile(text)).status == 1
    assert sbc("check", profile(text.replace("default", "defualt"))).status == 2
    assert sbc("check", profile(text), AGENT).status == 1


def test_explain_a_call_as_the_contract_has_it(sbc: Sbc) -> None:
    said = sbc("explain", AGENT, "socket(AF_ALG, SOCK_RAW, 0)", "--abi", "x86_64", "--json")
    assert said.status == 1
    made = said.json()
    rule = made.pop("rule")
    assert made == {
        "abi": "x86_64",
        "syscall": "socket",
        "nr": 41,
        "verdict": {"action": "errno", "errno": "EAFNOSUPPORT"},
    }
    assert rule["file"] == "<stock>"
    assert rule["text"].startswith("deny EAFNOSUPPORT socket unless family in")
    assert rule["reason"] == "Only the address families that builds use."


def test_options_may_stand_anywhere(sbc: Sbc) -> None:
    wanted = sbc("explain", AGENT, "read(0)", "--abi", "x86_64", "--json")
    assert wanted.status == 0
    assert sbc("explain", "--json", AGENT, "--abi", "x86_64", "read(0)") == wanted
    assert sbc("explain", AGENT, "--json", "--abi", "x86_64", "read(0)") == wanted
    assert sbc("explain", AGENT, "--abi", "x86_64", "--jsn", "read(0)").status == 2
    assert sbc("check", AGENT, "--nope").status == 2


def test_explain_a_default(sbc: Sbc) -> None:
    said = sbc("explain", AGENT, "read(0)", "--abi", "aarch64", "--json")
    assert said.status == 0
    assert said.json() == {
        "abi": "aarch64", "syscall": "read", "nr": 63, "verdict": {"action": "allow"}, "rule": None, "by": "default"
    }  # fmt: skip


def test_explain_a_foreign_abi(sbc: Sbc) -> None:
    made = sbc("explain", AGENT, "read(0)", "--abi", "i386", "--json").json()
    assert made["verdict"] == {"action": "kill-process"}
    assert made["by"] == "foreign-abi"


def test_explain_paths_and_connections(sbc: Sbc) -> None:
    assert sbc("explain", AGENT, "write", "/work/x").status == 0
    assert sbc("explain", AGENT, "write", "/usr/x").status == 1
    assert sbc("explain", AGENT, "read", "/etc/shadow").status == 1
    assert sbc("explain", AGENT, "connect", "localhost:80").status == 1
    assert sbc("explain", AGENT, "write", "/work/x", "--json").json()["targets"]["bwrap"] == "enforced"


def test_explain_wrong_questions(sbc: Sbc) -> None:
    for question, answer in (
        ("sokcet(1)", "did you mean `socket`"),
        ("read(1", "not a call"),
        ("read(O_RDOLNY)", "O_R"),
    ):
        said = sbc("explain", AGENT, question)
        assert said.status == 2, question
        assert answer in said.err


def test_explain_a_code(sbc: Sbc) -> None:
    assert "SBX203" in sbc("explain", "SBX203").out
    assert sbc("explain", "sbx203", "--json").json()["code"] == "SBX203"
    assert sbc("explain", "SBX999").status == 2
    assert "ask something" in sbc("explain", AGENT).err


def test_eval_as_the_contract_has_it(sbc: Sbc, filter_file: Path) -> None:
    said = sbc("eval", filter_file, "--abi", "x86_64", "41", "38", "3", "0", "--json")
    assert said.status == 1
    made = said.json()
    assert made.pop("steps") > 5
    assert made == {"action": "errno", "data": 97}
    assert sbc("eval", filter_file, "--abi", "x86_64", "read", "0").status == 0
    assert sbc("eval", filter_file, "--abi", "i386", "3").out.startswith("kill-process")
    assert sbc("eval", filter_file, "--abi", "x86_64", "--json", "-1").json()["action"] == "kill-process"
    assert sbc("eval", filter_file, "--abi", "x32", "read").out.startswith("kill-process")


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["raed"], "neither a call"),
        (["0x100000000"], "32 bits"),
        (["read", *"0123456"], "six"),
        (["read", str(1 << 64)], "64 bits"),
    ],
)
def test_eval_wrong_calls(sbc: Sbc, filter_file: Path, arguments: list[str], answer: str) -> None:
    said = sbc("eval", filter_file, "--abi", "x86_64", *arguments)
    assert said.status == 2
    assert answer in said.err


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (b"", "empty; name a raw filter"),
        (b"1234567", "whole number"),
        (b"\x06\0\0\0\0\0\xff\x7f" * 4097, "4096"),
        (b"\x20\0\0\0\x40\0\0\0\x06\0\0\0\0\0\xff\x7f", "64"),
    ],
)
def test_files_that_are_no_filter(sbc: Sbc, tmp_path: Path, content: bytes, answer: str) -> None:
    (tmp_path / "f.bpf").write_bytes(content)
    for command in (("eval", "f.bpf", "--abi", "x86_64", "0"), ("disasm", "f.bpf")):
        said = sbc(*command)
        assert said.status == 2
        assert answer in said.err
        assert len(said.err.splitlines()) == 1
    os.mkfifo(tmp_path / "fifo")
    assert "not a regular file" in sbc("disasm", "fifo").err
    assert "No such file" in sbc("disasm", "absent").err


def test_numbers_are_read_as_c_spells_them(sbc: Sbc, filter_file: Path) -> None:
    for octal in ("0755", "0o755", "0x1ed", "493"):
        assert sbc("eval", filter_file, "--abi", "x86_64", "chmod", "0", octal).status == 0
    assert "neither a call" in sbc("eval", filter_file, "--abi", "x86_64", "chmod", "0", "0789").err


def test_disasm_shows_the_policy_beside_the_verdicts(sbc: Sbc, filter_file: Path) -> None:
    said = sbc("disasm", filter_file, "--policy", AGENT)
    assert said.status == 0
    assert "EAFNOSUPPORT" in said.out
    assert "<stock>:" in said.out
    assert sbc("disasm", filter_file, "--json").json()["instructions"] <= 55


def test_disasm_tells_a_filter_that_is_not_the_profiles(sbc: Sbc, filter_file: Path) -> None:
    assert sbc("disasm", filter_file, "--policy", AGENT, "--json").json()["proven"] is True
    said = sbc("disasm", filter_file, "--policy", PROFILES / "docker-default.sbx")
    assert said.status == 1
    assert "not this profile's filter: on `" in said.err
    assert sbc("disasm", filter_file, "--abi", "arm", "--policy", AGENT).status == 2


def test_disasm_finds_the_abi(sbc: Sbc, filter_file: Path, tmp_path: Path) -> None:
    listing = sbc("disasm", filter_file).out
    filter_file.rename(tmp_path / "unnamed")
    assert sbc("disasm", "unnamed").out == listing


def test_docs_print_check_and_update(sbc: Sbc, tmp_path: Path) -> None:
    said = sbc("docs", AGENT)
    assert said.status == 0
    assert "# agent-check" in said.out
    assert sbc("docs", AGENT, "--format", "html").out.lower().startswith("<!doctype html>")
    document = tmp_path / "a.md"
    document.write_text("before\n<!-- sbc:begin agent-check limits -->\nold\n<!-- sbc:end -->\nafter\n")
    behind = sbc("docs", AGENT, "--check", document)
    assert behind.status == 1
    assert "-old" in behind.out
    assert sbc("docs", AGENT, "--update", document).status == 0
    assert sbc("docs", AGENT, "--check", document).status == 0
    assert document.read_text().startswith("before\n")
    document.write_text("<!-- sbc:begin agent-check limits -->\n")
    assert sbc("docs", AGENT, "--check", document).status == 2


@pytest.mark.parametrize("option", ["--check", "--update"])
def test_docs_leave_a_document_of_somebody_else_alone(sbc: Sbc, tmp_path: Path, option: str) -> None:
    document = tmp_path / "mine.md"
    document.write_text("# Mine\n\nLong work.\n")
    said = sbc("docs", AGENT, option, document)
    assert said.status == 2
    assert said.err.splitlines()[-1].startswith(f"sbc docs: {document}: the document has no region")
    assert document.read_text() == "# Mine\n\nLong work.\n"


@pytest.mark.parametrize("option", ["--check", "--update"])
def test_documents_that_cannot_be_read_are_one_line(sbc: Sbc, tmp_path: Path, option: str) -> None:
    advice = f"name a document that is there, and that you may {'read' if option == '--check' else 'change'}"
    binary = tmp_path / "binary.md"
    binary.write_bytes(b"\x7fELF\xff\xfe\0")
    for document, words in (
        (binary, f"{binary}: the document is not UTF-8 text; save it as such"),
        (tmp_path, f"{tmp_path}: Is a directory; {advice}"),
        (tmp_path / "absent.md", f"{tmp_path / 'absent.md'}: No such file or directory; {advice}"),
    ):
        said = sbc("docs", AGENT, option, document)
        assert (said.status, said.out, said.err) == (2, "", f"sbc docs: {words}\n")


def test_what_is_changed_in_place_keeps_its_mode_and_its_links(sbc: Sbc, profile: Profile, tmp_path: Path) -> None:
    document, path = tmp_path / "a.md", profile("sbx 1\ngroup  @a { read }\n")
    document.write_text("<!-- sbc:begin agent-check limits -->\nold\n<!-- sbc:end -->\n")
    for file, command in ((document, ("docs", AGENT, "--update")), (path, ("fmt",))):
        file.chmod(0o640)
        before = file.read_text()
        link = tmp_path / f"{file.name}.link"
        link.symlink_to(file.name)
        assert sbc(*command, link).status == 0
        assert link.is_symlink()
        assert file.read_text() != before
        assert file.stat().st_mode & 0o777 == 0o640


def test_fmt_of_bytes_that_are_no_text(sbc: Sbc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"sbx 1\n\xff\n"), "utf-8"))
    said = sbc("fmt", "-")
    assert said.status == 2
    assert "`<stdin>` is not UTF-8" in said.err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"sbx 1\ngroup  @a { read }\n"), "utf-8"))
    assert sbc("fmt", "-").out == "sbx 1\ngroup @a { read }\n"


def test_fmt(sbc: Sbc, profile: Profile) -> None:
    path = profile("sbx 1\n# kept\nprofile p {files{root host;read /}}\n")
    assert sbc("fmt", "--check", path).status == 1
    assert sbc("fmt", path).status == 0
    assert "# kept" in path.read_text()
    assert sbc("fmt", "--check", path).status == 0
    broken = profile("sbx 1\nprofile p {", "broken.sbx")
    assert sbc("fmt", broken).status == 2
    assert broken.read_text() == "sbx 1\nprofile p {"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command(sbc: Sbc, shell: str) -> None:
    said = sbc("completion", shell)
    assert said.status == 0
    for word in ("compile", "check", "explain", "allow-wider"):
        assert word in said.out


def test_bash_completes(sbc: Sbc) -> None:
    script = sbc("completion", "bash").out + '\nCOMP_WORDS=(sbc com); COMP_CWORD=1; _sbc; echo "${COMPREPLY[*]}"\n'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["compile", "completion"]


def test_no_colours_and_no_traceback_where_the_reader_goes_away() -> None:
    environment = {"PYTHONPATH": f"{ROOT}/compiler:{ROOT}/runtime", "PATH": os.environ["PATH"]}
    command = f"{sys.executable} -m sbc.cli.main docs {AGENT} | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""


def test_colours_only_where_wanted(sbc: Sbc, profile: Profile) -> None:
    path = profile("sbx 1\nprofil p { }\n")
    assert "\x1b[" not in sbc("check", path).err
    assert "\x1b[" in sbc("check", path, "--color", "always").err

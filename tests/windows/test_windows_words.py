"""Command lines, environment blocks and programs of Windows, against a reader of the documented rules."""

import errno

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sbc_runtime.errors import SetupFailed
from sbc_runtime.windows_words import command_line, environment_block, find_program
from tests.windows.readers import arguments_of, variables_of

TEXTS = st.text(st.characters(exclude_characters="\0")) | st.text(alphabet='\\" \ta')


@given(st.lists(TEXTS))
@example(["", " ", '"', "\\", '\\"', "a\\", "a b\\", '""', "\\\\", '\\\\"', "a\tb", "%PATH%", "^&|<>", "\n"])
def test_a_program_gets_exactly_the_arguments(arguments: list[str]) -> None:
    """Law: what CommandLineToArgvW and the C runtime read from the line is what was given."""
    line = command_line("C:\\Program Files\\tool.exe", arguments)
    for posted in (False, True):
        assert arguments_of(line, quote_in_quotes=posted) == ["C:\\Program Files\\tool.exe", *arguments]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], '"t.exe"'),
        (["a"], '"t.exe" "a"'),
        ([""], '"t.exe" ""'),
        (["a b", "c\\"], '"t.exe" "a b" "c\\\\"'),
        (['say "x"'], '"t.exe" "say \\"x\\""'),
        (['\\\\"', "\\\\a"], '"t.exe" "\\\\\\\\\\"" "\\\\a"'),
    ],
)
def test_lines(arguments: list[str], line: str) -> None:
    assert command_line("t.exe", arguments) == line


@pytest.mark.parametrize(("program", "argument"), [('a".exe', "b"), ("a\0", "b"), ("a", "b\0c"), ("a", "x" * 32767)])
def test_what_no_line_can_say_is_refused(program: str, argument: str) -> None:
    with pytest.raises(SetupFailed, match="command"):
        command_line(program, [argument])


def test_the_longest_line() -> None:
    assert len(command_line("a", ["x" * (32766 - 6)])) == 32766
    with pytest.raises(SetupFailed):
        command_line("a", ["x" * (32766 - 5)])
    with pytest.raises(SetupFailed):
        command_line("a", ["\U0001f600" * 16381])


NAMES = st.text(st.characters(exclude_characters="\0=", codec="utf-8"), min_size=1)


@given(st.dictionaries(NAMES, st.text(st.characters(exclude_characters="\0", codec="utf-8"))))
def test_a_process_gets_exactly_the_variables(variables: dict[str, str]) -> None:
    if len({name.upper() for name in variables}) < len(variables):
        with pytest.raises(SetupFailed, match="twice"):
            environment_block(variables.items())
        return
    block = environment_block(variables.items())
    assert variables_of(block) == variables
    assert block.endswith(b"\0\0\0\0")


def test_an_environment_is_sorted_without_case() -> None:
    block = environment_block([("b", "2"), ("A", "1"), ("_", "4"), ("C", "3")])
    assert block.decode("utf-16-le") == "A=1\0b=2\0C=3\0_=4\0\0"
    assert environment_block([]) == b"\0\0\0\0"


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("A=B", "x"), ("=C:", "x"), ("A\0", "x"), ("A", "x\0B=1")])
def test_what_is_no_variable_is_refused(name: str, value: str) -> None:
    with pytest.raises(SetupFailed, match="environment"):
        environment_block([(name, value)])


FILES = {
    "C:\\bin\\tool.exe", "C:\\bin\\old.com", "C:\\bin\\script.cmd", "C:\\bin\\run.bat", "C:\\tree\\tool.exe",
    "C:\\tree\\sub\\own.exe", "D:\\x\\far.exe", "C:\\bin\\v1.2.exe",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("tool", "C:\\bin\\tool.exe"),  # and not the one in the current folder
        ("tool.exe", "C:\\bin\\tool.exe"),
        ("old", "C:\\bin\\old.com"),
        ("v1.2", "C:\\bin\\v1.2.exe"),
        (".\\tool", "C:\\tree\\.\\tool.exe"),
        ("sub/own", "C:\\tree\\sub/own.exe"),
        ("D:\\x\\far.exe", "D:\\x\\far.exe"),
        ("C:\\bin\\tool.exe. ", "C:\\bin\\tool.exe"),
    ],
)
def test_programs_are_found(name: str, found: str) -> None:
    assert find_program(name, "rel;.;;C:\\bin", "C:\\tree", _is_file) == found


@pytest.mark.parametrize("name", ["own", "none", "", "tool.txt", "far"])
def test_programs_that_are_not_there(name: str) -> None:
    with pytest.raises(SetupFailed) as told:
        find_program(name, "rel;.;;C:\\bin", "C:\\tree", _is_file)
    assert told.value.failure.errno == errno.ENOENT


@pytest.mark.parametrize(
    "name", ["run.bat", "script.cmd", "C:\\bin\\run.bat", "run.BAT", "run.bat.", "run.bat ", "run.bat . ."]
)
def test_scripts_of_the_shell_are_refused(name: str) -> None:
    with pytest.raises(SetupFailed) as told:
        find_program(name, "C:\\bin", "C:\\tree", _is_file)
    assert told.value.failure.errno == errno.EACCES


def _is_file(path: str) -> bool:
    return path.replace("/", "\\").replace("\\.\\", "\\").lower() in {one.lower() for one in FILES}

"""What a caller asks of one run: one value, checked as a whole before anything is made."""

import os
from collections.abc import Mapping, Sequence
from struct import Struct

from sbc_runtime.calling import absolute
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import BackendChoice, Options, OutKind, StdinKind
from sbc_runtime.records import NamedTuple
from sbc_runtime.texts import Text, carried
from sbc_runtime.words import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sbc_runtime.bypass import Request as BypassRequest

Input = bytes | int | IO[bytes] | None
Output = Literal["capture", "null"] | int | IO[bytes]

_LONGEST = 2**53
"""Milliseconds: no timeout is longer, and every number of them is exact as a float."""

_ENDLESS = float("inf")
_MOST_ROWS = 0xFFFF
_SIZE = Struct("=HH")


class Request(NamedTuple):
    """One run: the command, and how it is to be run.

    `argv`: the program and its arguments. `params`: values of the profile's parameters. `stdin`: bytes, or a descriptor
    or file to read from (None: nothing). `stdout`, `stderr`: "capture", of each at most the profile's `output` and
    never more than the first 256 MiB (`Outcome.stdout.cut` says that more came); "null"; or a descriptor or file.
    `timeout`: seconds, above zero; it can only shorten the profile's wall limit. `backend`: what isolates.
    `allow_wider`: accept what the backend cannot enforce. `cgroup_base`: a cgroup v2 folder in which the run gets one
    of its own. `report`: where the caller will write a report; nothing is run where the command could write there too.
    `terminal`: rows and columns of one that the command gets as its 0, 1 and 2; `stdin` and `stdout` are descriptors
    then, and `stderr` is not used. `bypass`: the attestation by which the builder may run on Windows without a sandbox;
    refused elsewhere. `relied_on`: files and folders of the caller's own program, which the command sees read-only at
    most; this package and its virtual environment are always among them.
    """

    argv: Sequence[Text]
    params: Mapping[str, Text | int] | None = None
    stdin: Input = None
    stdout: Output = "capture"
    stderr: Output = "capture"
    timeout: float | None = None
    backend: BackendChoice = "auto"
    allow_wider: bool = False
    cgroup_base: Text | None = None
    report: Text | None = None
    terminal: tuple[int, int] | None = None
    bypass: "BypassRequest | None" = None
    relied_on: Sequence[Text] = ()


class Streams(NamedTuple):
    """Where the streams lead: `stdin` what is fed, each other a descriptor or None."""

    stdin: bytes | int | None
    stdout: int | None
    stderr: int | None


def command(request: Request) -> tuple[str, ...]:
    """Give the command as it travels; `TypeError` or `ValueError` where it cannot be one."""
    if isinstance(request.argv, str | bytes) or not isinstance(request.argv, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("a command is a sequence: the program and each of its arguments")
    found = tuple(carried(one, "an argument of the command") for one in request.argv)
    if not found:
        raise ValueError("a command has at least a program")
    return found


def streams(request: Request) -> Streams:
    """Give the streams as bytes and open descriptors; `TypeError` or `ValueError` where one cannot be used."""
    stdin = request.stdin
    fed = stdin if stdin is None or isinstance(stdin, bytes) else _descriptor(stdin, "stdin")
    return Streams(fed, _target(request.stdout, "stdout"), _target(request.stderr, "stderr"))


def options(request: Request, given: Streams, cwd: str, cgroup_base: str | None) -> Options:
    """Give the choices as they travel. `cgroup_base`: what is taken where the request names none.

    `TypeError` or `ValueError` where one cannot be meant, `SetupFailed` where the report's folder cannot be known.
    """
    if not isinstance(request.allow_wider, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("allow_wider is True or False, and nothing else")
    if not isinstance(request.backend, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("backend is the name of one")
    terminal = _terminal(request.terminal)
    if terminal is not None and (not isinstance(given.stdin, int) or given.stdout is None):
        raise ValueError("with a terminal, stdin and stdout are descriptors or files")
    return Options(
        request.backend,
        request.allow_wider,
        milliseconds(request.timeout),
        "terminal" if terminal else _in_kind(given.stdin),
        "terminal" if terminal else _out_kind(request.stdout),
        "null" if terminal else _out_kind(request.stderr),
        *(terminal or (24, 80)),
        cgroup_base if request.cgroup_base is None else carried(request.cgroup_base, "cgroup_base"),
        _report(request.report, cwd),
        _relied_on(request.relied_on, cwd),
    )


def size(rows: int, columns: int) -> bytes:
    """Give a terminal's size as it travels; `ValueError` where it cannot be one."""
    for one in (rows, columns):
        if not isinstance(one, int) or not 0 < one <= _MOST_ROWS:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"a terminal has 1 to {_MOST_ROWS} rows and columns, not {one!r}")
    return _SIZE.pack(rows, columns)


def _terminal(given: tuple[int, int] | None) -> tuple[int, int] | None:
    if given is not None:
        size(*given)
    return given


def milliseconds(timeout: float | None) -> int | None:
    """Give a timeout of seconds in milliseconds; `TypeError` or `ValueError` where it cannot be one."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"timeout is {type(timeout).__name__}: give seconds")
    if not 0 < timeout < _ENDLESS:  # and so no NaN
        raise ValueError(f"timeout is {timeout}: give seconds, above zero (None: the profile's wall limit alone)")
    return max(1, int(min(timeout, _LONGEST // 1000) * 1000))


def _report(given: Text | None, cwd: str) -> str | None:
    if given is None:
        return None
    path = carried(given, "report")
    found = absolute(path, cwd) if path else None
    if found is None:
        what = f"`{path}` is relative, and the current folder is gone" if path else "its path is empty"
        raise SetupFailed("report", what, "name a file by its absolute path", 2)
    return found


def _relied_on(given: Sequence[Text], cwd: str) -> tuple[str, ...]:
    if isinstance(given, str | bytes):
        raise TypeError("relied_on is a sequence of paths")
    found = [absolute(carried(one, "relied_on"), cwd) for one in given]
    if None in found:
        raise ValueError("relied_on has a relative path, and the current folder is gone")
    return tuple(one for one in found if one is not None)


def _target(output: Output, what: str) -> int | None:
    if isinstance(output, str):
        if output not in {"capture", "null"}:
            raise ValueError(f'{what} is {output!r}: give "capture", "null", a descriptor or an open file')
        return None
    return _descriptor(output, what)


def _descriptor(one: int | IO[bytes], what: str) -> int:
    if isinstance(one, bool) or not (isinstance(one, int) or hasattr(one, "fileno")):
        raise TypeError(f"{what} is {type(one).__name__}: a descriptor or an open file is needed here")
    try:
        number = one if isinstance(one, int) else one.fileno()
        os.fstat(number)
    except (OSError, ValueError, OverflowError):
        raise ValueError(f"{what}: {one!r} has no open descriptor") from None
    return number


def _in_kind(stdin: bytes | int | None) -> StdinKind:
    return "null" if stdin is None else "bytes" if isinstance(stdin, bytes) else "descriptor"


def _out_kind(output: Output) -> OutKind:
    return output if isinstance(output, str) else "descriptor"

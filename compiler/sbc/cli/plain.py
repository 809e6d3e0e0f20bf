"""The plainest calls of `sbc run`, read without argparse: to import and prepare that takes as long as all of a run.

    sbc run FILE [-D NAME=VALUE]... [--gate] -- COMMAND [ARGUMENT...]

Every other call, and every wrong one, is argparse's.
"""

from sbc_runtime.words import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from argparse import Namespace


class _Plain:
    """What the parser gives for an option that is not there."""

    command = "run"
    profile = report = timeout = cgroup_base = attestation = active_sandbox_check = run_id = pty = None
    backend = color = "auto"
    gate = allow_wider = verbose = json = False

    def __init__(self, file: str, params: list[str], gate: bool, command_line: list[str]) -> None:
        self.file = file
        self.params = params
        self.gate = gate
        self.command_line = command_line


def plain(arguments: list[str]) -> "Namespace | None":
    """Read a call; None where it is not of the plainest form."""
    if arguments[:1] != ["run"] or "--" not in arguments:
        return None
    end = arguments.index("--")
    files: list[str] = []
    params: list[str] = []
    gate = False
    words = iter(arguments[1:end])
    for one in words:
        if one == "-D":
            value = next(words, "")
            if value.startswith("-") or not value:
                return None
            params.append(value)
        elif one == "--gate":
            gate = True
        elif one.startswith("-") or not one:
            return None
        else:
            files.append(one)
    if len(files) != 1:
        return None
    return cast("Namespace", _Plain(files[0], params, gate, arguments[end + 1 :]))

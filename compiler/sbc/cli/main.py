"""The entry point: finds the command, runs it, and turns every failure into an exit status and a line of text."""

import gc
import io
import os
import sys
from collections.abc import Sequence

from sbc.cli.exits import WRONG


def main(argv: Sequence[str] | None = None) -> int:
    """Run `sbc` with the given arguments (default: the process's) and give its exit status."""
    _prepare_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    short = argv is None and arguments[:1] == ["run"] and "--" in arguments and sys.platform == "linux"
    if short:
        from sbc_runtime.spawn import ahead

        ahead()  # while the rest of this program is imported, and the bundle read
        gc.disable()  # nothing that is imported is ever garbage
    from sbc.cli.commands import wrong_status

    wrong = wrong_status(arguments)
    try:
        try:
            status = _run(arguments)
        except SystemExit as stop:  # argparse: help was printed, or the call is wrong
            status = 0 if stop.code in {0, None} else wrong
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (`sbc disasm F | head`): nothing more to say.
        status = wrong
    except KeyboardInterrupt:
        _say("cancelled")
        status = 130
    except OSError as error:
        # Commands tell what is wrong with files; what comes here is about a stream, which has no name.
        _say(f"{error.filename or 'the output cannot be written'}: {error.strerror or error}")
        status = wrong
    status = _closed(status)
    if short:
        os._exit(status)  # nothing is left to be done, and to take the interpreter down takes as long as to start it
    return status


def _run(arguments: list[str]) -> int:
    """Carry out the command that is meant, and give its exit status; `SystemExit` where it is none."""
    from sbc.cli.plain import plain

    asked = plain(arguments)
    if asked is not None:
        from sbc.cli.run import run as run_command

        return run_command(asked)
    from sbc.cli.parser import run

    return run(arguments)


def _prepare_streams() -> None:
    """See to it that printing is never a traceback, whatever the streams are.

    A path need not be UTF-8, and a terminal need not know every character. No file may be opened in place of a stream
    that was closed before the start: results that go there cannot be written, diagnostics are lost.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            _onto_null(number, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _onto_null(number: int, flags: int) -> None:
    """Have a descriptor lead to the null device."""
    null = os.open(os.devnull, flags)
    if null != number:
        os.dup2(null, number)
        os.close(null)


def _say(what: str) -> None:
    try:
        print(f"sbc: {what}", file=sys.stderr)
    except OSError:
        return  # nobody listens


def _closed(status: int) -> int:
    """Leave nothing in the streams that the interpreter could fail to write at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _onto_null(stream.fileno(), os.O_WRONLY)
            stream.flush()
            status = status or WRONG
    return status


if __name__ == "__main__":
    sys.exit(main())

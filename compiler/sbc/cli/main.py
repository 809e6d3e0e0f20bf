"""The entry point: finds the command, runs it, and turns every failure into an exit status and a line of text."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from sbc import __version__
from sbc.cli.commands import COMMANDS, Command
from sbc.cli.exits import WRONG

EPILOG = """\
exit status: 0 fine; 1 the answer is no (a lint, a deny, a document behind); 2 the input or the call is wrong.

examples:
  sbc compile profiles/agent-check.sbx        write build/agent-check/
  sbc check profiles/*.sbx                    prove everything, write nothing
  sbc explain profiles/agent-check.sbx 'socket(AF_ALG, SOCK_RAW, 0)'
"""


class Parsers(NamedTuple):
    """The parser of the whole command line, and each command's own."""

    whole: argparse.ArgumentParser
    commands: dict[str, argparse.ArgumentParser]


def build_parsers(wanted: str | None) -> Parsers:
    """Build the parsers; only the wanted command's options are read (None: all of them)."""
    parser = argparse.ArgumentParser(
        prog="sbc",
        description="Compile one sandbox policy to every target, proven.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sbc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    found: dict[str, argparse.ArgumentParser] = {}
    for command in COMMANDS:
        sub = found[command.name] = commands.add_parser(
            command.name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if wanted is None or wanted == command.name:
            _configure(command, sub)
    return Parsers(parser, found)


def _configure(command: Command, parser: argparse.ArgumentParser) -> None:
    module = import_module(command.module)
    module.configure(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour diagnostics (default: auto)"
    )
    parser.set_defaults(run=module.run)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `sbc` with the given arguments (default: the process's) and give its exit status."""
    # A path need not be UTF-8, and a terminal need not know every character: neither may end in a traceback.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    arguments = list(sys.argv[1:] if argv is None else argv)
    command_line: list[str] = []
    if arguments[:1] == ["run"] and "--" in arguments:
        end = arguments.index("--")
        arguments, command_line = arguments[:end], arguments[end + 1 :]
    wanted = next((a for a in arguments if not a.startswith("-")), None)
    parsers = build_parsers(wanted)
    args, rest = parsers.whole.parse_known_args(arguments)
    if rest and (args.command != "explain" or any(word.startswith("--") for word in rest)):
        parsers.commands[args.command].error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:  # argparse takes no positional ones after an option, and a question may start with `-`
        args.question = [*args.question, *rest]
    args.command_line = command_line
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (`sbc disasm F | head`): nothing more to say, and no traceback at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return WRONG
    except KeyboardInterrupt:
        print("sbc: cancelled", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())

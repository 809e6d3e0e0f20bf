"""The command line: every command's options, and which command is meant."""

import argparse
import os
import sys
from contextlib import suppress
from importlib import import_module

from sbc import __version__
from sbc.cli.commands import COMMANDS, Command
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

EPILOG = """\
exit status: 0 fine; 1 the answer is no (a lint, a deny, a document behind); 2 the input or the call is wrong.

examples:
  sbc compile profiles/agent-check.sbx        write build/agent-check/
  sbc check profiles/*.sbx                    prove everything, write nothing
  sbc explain profiles/agent-check.sbx 'socket(AF_ALG, SOCK_RAW, 0)'
"""


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Formats help. argparse makes one for every option, and would import shutil and every compressor for its width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    """Give the terminal's width as `shutil.get_terminal_size` does."""
    with suppress(KeyError, ValueError):
        if (told := int(os.environ["COLUMNS"])) > 0:
            return told
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


class Parser(argparse.ArgumentParser):
    """A parser that tells when its help cannot be written, as every command does with its result."""

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        if message:
            (file or sys.stderr).write(message)


class Parsers(NamedTuple):
    """The parser of the whole command line, and each command's own."""

    whole: argparse.ArgumentParser
    commands: dict[str, argparse.ArgumentParser]


def build_parsers(wanted: str | None, *, alone: bool = False) -> Parsers:
    """Build the parsers; only the wanted command's options are read (None: all of them).

    `alone`: the others are not built at all, which takes as long as all else here: no message can name them.
    """
    parser = Parser(
        prog="sbc",
        description="Compile one sandbox policy to every target, proven.",
        epilog=EPILOG,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sbc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    found: dict[str, argparse.ArgumentParser] = {}
    for command in COMMANDS:
        if alone and command.name != wanted:
            continue
        sub = found[command.name] = commands.add_parser(
            command.name,
            help=command.help,
            description=command.help[0].upper() + command.help[1:] + ".",
            formatter_class=Formatter,
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


def run(arguments: list[str]) -> int:
    """Read the command line and run the command."""
    command_line: list[str] = []
    if arguments[:1] == ["run"] and "--" in arguments:
        end = arguments.index("--")
        arguments, command_line = arguments[:end], arguments[end + 1 :]
    wanted = next((a for a in arguments if not a.startswith("-")), None)
    alone = arguments[:1] == [wanted] and any(one.name == wanted for one in COMMANDS)
    parsers = build_parsers(wanted, alone=alone)
    args, rest = parsers.whole.parse_known_args(arguments)
    if rest and (args.command != "explain" or any(word.startswith("--") for word in rest)):
        parsers.commands[args.command].error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:  # argparse takes no positional ones after an option, and a question may start with `-`
        args.question = [*args.question, *rest]
    args.command_line = command_line
    status: int = args.run(args)
    return status

"""The table of commands: a name, the module that carries it out, and one line of help."""

from sbc.cli.exits import REFUSED, WRONG
from sbc_runtime.records import NamedTuple


class Command(NamedTuple):
    """One subcommand; its module has `configure(parser)` and `run(args) -> exit status`.

    `wrong`: its exit status where the call is wrong.
    """

    name: str
    module: str
    help: str
    wrong: int = WRONG


COMMANDS = (
    Command("compile", "sbc.cli.compile", "compile a profile to filters, SBPL, bwrap arguments, docs and a bundle"),
    Command("check", "sbc.cli.check", "parse, resolve, lint and prove profiles; write nothing"),
    Command("fmt", "sbc.cli.fmt", "format profiles"),
    Command("explain", "sbc.cli.explain", "say what a profile decides, or what a diagnostic code means"),
    Command("docs", "sbc.cli.docs", "write or check the tables of a profile for people"),
    Command("disasm", "sbc.cli.disasm", "list a filter with names and labels"),
    Command("eval", "sbc.cli.eval", "run a filter on one call"),
    Command("seatbelt-eval", "sbc.cli.seatbelt_eval", "say what an SBPL profile decides, without a Mac"),
    Command("run", "sbc.cli.run", "run a command in the sandbox of a profile or a bundle", REFUSED),
    Command("doctor", "sbc.cli.doctor", "say which backends work here, or why not and what to do"),
    Command("completion", "sbc.cli.completion", "print a completion script for a shell"),
)


def wrong_status(arguments: list[str]) -> int:
    """Give the exit status of a call that is wrong."""
    return next((one.wrong for one in COMMANDS if arguments[:1] == [one.name]), WRONG)

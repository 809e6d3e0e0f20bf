"""`sbc doctor`: which backends work on this machine, or why not and what to do about it."""

from argparse import ArgumentParser, Namespace

from sbc.cli.exits import FINE, NO
from sbc.cli.output import print_json


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--cgroup-base", metavar="DIR", help="also try this cgroup v2 folder: a process is moved there")
    parser.epilog = (
        "The whole set-up is done once for each backend; nothing is changed and nothing is left.\n"
        "Exit 1 where no backend that isolates works.\n\n"
        "examples:\n  sbc doctor\n  sbc doctor --cgroup-base /sys/fs/cgroup/user.slice/sbc --json"
    )


def run(args: Namespace) -> int:
    """Try each backend and say what was found."""
    from sbc_runtime.doctor import diagnose

    found = diagnose(args.cgroup_base)
    if args.json:
        print_json(found.to_json())
    else:
        print("\n".join(found.lines()))
    return FINE if found.ready else NO

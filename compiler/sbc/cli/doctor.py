"""`sbc doctor`: which backends work on this machine, or why not and what to do about it."""

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from sbc.cli.exits import FINE, NO
from sbc.cli.output import print_json

if TYPE_CHECKING:
    from sbc_runtime.doctor_findings import Findings


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
    found = _found(args.cgroup_base)
    if args.json:
        print_json(found.to_json())
    else:
        print("\n".join(found.lines()))
    return FINE if found.ready else NO


def _found(cgroup_base: str | None) -> "Findings":
    if sys.platform == "win32":
        from sbc_runtime.doctor_findings import on_windows

        version = sys.getwindowsversion()
        return on_windows(
            f"{version.major}.{version.minor}.{version.build}", os.environ.get("PROCESSOR_ARCHITECTURE", "")
        )
    if sys.platform == "darwin":
        from sbc_runtime.macos.doctor import diagnose as diagnose_mac

        return diagnose_mac()
    from sbc_runtime.doctor import diagnose

    return diagnose(cgroup_base)

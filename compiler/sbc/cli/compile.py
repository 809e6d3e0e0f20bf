"""`sbc compile`: one profile to every target, proven before anything is written."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from sbc.cli.exits import FINE, WRONG
from sbc.cli.output import diagnostics_json, print_json, show
from sbc.diagnostics.diagnostic import Failed, Reporter


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.sbx", type=Path, help="profile to compile")
    parser.add_argument("--profile", metavar="P", help="which profile of the file (needed where it has several)")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="folder to write to (default: build/NAME)")
    parser.add_argument("--target", metavar="T,...", help="only these targets (bpf, sbpl, bwrap, docs, bundle)")
    parser.add_argument("--allow-wider", action="store_true", help="accept what a target allows beyond the profile")
    parser.epilog = (
        "examples:\n  sbc compile profiles/agent-check.sbx\n"
        "  sbc compile profiles/gate.sbx --target sbpl -o out"
    )


def run(args: Namespace) -> int:
    """Compile, prove, write all files or none, and print the coverage table."""
    from sbc.pipeline import compile_file
    from sbc_runtime.atomic import write_files

    reporter = Reporter()
    wanted = args.target.split(",") if args.target is not None else None
    try:
        made = compile_file(args.file, args.profile, wanted, reporter, allow_wider=args.allow_wider)
    except Failed as failure:
        show(failure.diagnostics, args)
        if args.json:
            print_json({"files": [], "diagnostics": diagnostics_json(failure.diagnostics)})
        return WRONG
    show(reporter.diagnostics, args)
    folder = args.output or Path("build") / made.policy.name
    folder.mkdir(parents=True, exist_ok=True)
    write_files(folder, {file.name: file.content for file in made.files})
    return FINE

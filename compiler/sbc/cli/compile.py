"""`sbc compile`: one profile to every target, proven before anything is written."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from sbc.cli.exits import FINE, WRONG
from sbc.cli.output import complain, diagnostics_json, fault, print_json, show
from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.pipeline import Compilation, compile_file
from sbc_runtime.arch import ARCHES


def configure(parser: ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE.sbx", type=Path, help="profile to compile")
    parser.add_argument("--profile", metavar="P", help="which profile of the file (needed where it has several)")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="folder to write to (default: build/NAME)")
    parser.add_argument("--target", metavar="T,...", help="only these of bpf, sbpl, bwrap, docs, bundle")
    parser.add_argument("--allow-wider", action="store_true", help="accept what a target allows beyond the profile")
    parser.epilog = (
        "Every filter is proven equal to the policy, and every file made, before anything is written. Then each file\n"
        "is replaced whole, the bundle last: a compilation that is killed while it writes may leave new files beside\n"
        "old ones. What one bundle holds always belongs together.\n\n"
        "examples:\n  sbc compile profiles/agent-check.sbx\n"
        "  sbc compile profiles/gate.sbx --target sbpl -o out"
    )


def run(args: Namespace) -> int:
    """Compile, prove, write every file once all are made, and print the coverage table."""
    reporter = Reporter()
    targets = args.target.split(",") if args.target is not None else None
    try:
        made = compile_file(args.file, args.profile, targets, reporter, allow_wider=args.allow_wider)
    except Failed as failure:
        found = tuple(dict.fromkeys((*reporter.diagnostics, *failure.diagnostics)))
        show(found, args, args.file.parent)
        if args.json:
            print_json({"written": [], "diagnostics": diagnostics_json(found)})
        return WRONG
    show(reporter.diagnostics, args, args.file.parent)
    folder = args.output or Path("build") / made.policy.name
    try:
        removed = _write(folder, made, everything=targets is None)
    except OSError as error:
        complain(fault(error, folder, "name a folder that you may write to by `-o`"), args)
        return WRONG
    written = [str(folder / file.name) for file in made.files]
    if args.json:
        print_json(_json(made, written, removed, reporter))
        return FINE
    from sbc.backends.coverage import table

    print(table(made.coverage))
    for note in made.notes:
        print(f"note: {note.target}: {note.text}")
    print(
        "\n".join([*(f"wrote {name}" for name in written), *(f"removed {name}: not made any more" for name in removed)])
    )
    return FINE


def _write(folder: Path, made: Compilation, *, everything: bool) -> list[str]:
    """Write the files; where every target was made, remove those of an earlier compilation that are no longer made.

    A stale filter or profile beside new ones would be taken for part of them.
    """
    from sbc_runtime.atomic import write_files

    folder.mkdir(parents=True, exist_ok=True)
    write_files(folder, {file.name: file.content for file in made.files}, durable=False)
    if not everything:
        return []
    name = made.policy.name
    known = {f"{name}.{suffix}" for suffix in ("sb", "bwrap", "md", "sbb", *(f"{abi}.bpf" for abi in ARCHES))}
    stale = sorted(known - {file.name for file in made.files})
    removed = [folder / one for one in stale if (folder / one).is_file()]
    for path in removed:
        path.unlink()
    return [str(path) for path in removed]


def _json(made: Compilation, written: list[str], removed: list[str], reporter: Reporter) -> dict[str, object]:
    rows = [
        {
            "statement": {"file": row.origin.file, "line": row.origin.line, "text": row.origin.text},
            "targets": {
                target: {"state": cell.state, "why": cell.why}
                for target, cell in zip(made.coverage.targets, row.cells, strict=True)
            },
        }
        for row in made.coverage.rows
    ]
    return {
        "profile": made.policy.name,
        "written": written,
        "removed": removed,
        "coverage": rows,
        "notes": [{"target": note.target, "text": note.text} for note in made.notes],
        "diagnostics": diagnostics_json(reporter.diagnostics),
    }

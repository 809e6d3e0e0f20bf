"""`sbc run`: a command in the sandbox that a profile or a bundle describes.

A bundle is run without the compiler: neither the parser nor any target is imported then.
"""

import gc
import sys

from sbc.cli import gate
from sbc.cli.exits import REFUSED
from sbc.cli.foreground import Cancellable, Foreground
from sbc.cli.relied_on import relied_on
from sbc.cli.terminal import Terminal, one_terminal
from sbc_runtime.api import Profile, load, of_content
from sbc_runtime.canonical import BundleError
from sbc_runtime.host import HOST
from sbc_runtime.outcome import LOST, Outcome
from sbc_runtime.request import Request
from sbc_runtime.words import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from sbc.cli.report_file import Place
    from sbc_runtime.report import Report

BACKENDS = ("auto", "namespace", "bwrap", "seatbelt", "oci", "process")


def configure(parser: "ArgumentParser") -> None:
    """Declare the command's options."""
    parser.usage = "sbc run FILE [options] -- COMMAND [ARGUMENT...]"
    parser.add_argument("file", metavar="FILE", help="profile (.sbx, compiled once) or bundle (.sbb)")
    parser.add_argument("-D", dest="params", metavar="NAME=VALUE", action="append", default=[], help="a parameter")
    parser.add_argument("--profile", metavar="P", help="which profile of the file")
    parser.add_argument("--backend", choices=BACKENDS, default="auto", help="what isolates (default: what works here)")
    parser.add_argument("--report", metavar="FILE", help="write what was in force, as JSON")
    parser.add_argument("--gate", action="store_true", help="the exit status is a verdict: never a pass of ours")
    parser.add_argument("--allow-wider", action="store_true", help="accept what the backend cannot enforce")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, help="a wall limit shorter than the profile's")
    parser.add_argument("--cgroup-base", metavar="DIR", help="a cgroup v2 folder in which the run gets one of its own")
    parser.add_argument("--verbose", action="store_true", help="say on stderr what was in force")
    parser.add_argument("--attestation", metavar="FILE", help="Windows: by which the builder runs without a sandbox")
    parser.add_argument(
        "--active-sandbox-check", metavar="PROGRAM", help="Windows: exits 0 where all around is isolated"
    )
    parser.add_argument("--run-id", metavar="ID", help="Windows: the run that the attestation has to be for")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--pty", action="store_true", default=None, dest="pty", help="give the command a terminal")
    group.add_argument("--no-pty", action="store_false", dest="pty", help="give it pipes")
    parser.epilog = (
        "Exit status: the command's own (128+N for signal N); 124 wall limit, 137 another limit, 130 cancelled,\n"
        "125 the sandbox could not be set up (nothing was run), 126/127 the command cannot be executed / found.\n"
        "The report's `outcome.by` tells the command's own 124 to 127 from these.\n\n"
        "examples:\n  sbc run profiles/agent-check.sbx -D workdir=. -- make test\n"
        "  sbc run build/agent-check/agent-check.sbb -D workdir=. --report report.json -- ./check.sh"
    )


def run(args: "Namespace") -> int:
    """Run the command and relay its end."""
    gc.freeze()
    gc.enable()
    if not args.command_line:
        return refuse("say what to run after `--`")
    if sys.platform == "win32" or _asks_for_bypass(args):
        from sbc.cli.run_windows import run as run_there

        return run_there(args)
    HOST.adopt()
    place: Place | None = None
    try:
        params = dict(split_param(text) for text in args.params)
        profile = profile_of(args)
        if profile is None:
            return REFUSED
        profile.announce()
        place = None if args.report is None else _place(args.report)
        if args.gate and args.backend == "process":
            return refuse("gate refused: the backend `process` isolates nothing", place)
        pty = one_terminal() if args.pty is None else args.pty
        terminal = Terminal() if pty and not (args.gate and gate.switched_off()) else None
        started, foreground = _start(profile, args, params, place, terminal)
    except (BundleError, ValueError) as error:
        return refuse(str(error), place)
    except OSError as error:
        from sbc.cli.output import fault

        return refuse(fault(error, args.file), place)
    try:
        outcome = foreground.wait(started)
    finally:
        foreground.leave()
    return _finish(started, outcome, place, args)


def _place(report: str) -> "Place":
    from sbc.cli.report_file import Place

    return Place(report)


def _start(
    profile: Profile, args: "Namespace", params: dict[str, str], place: "Place | None", terminal: Terminal | None
) -> "tuple[_Started, Foreground]":
    foreground = Foreground(terminal)
    try:
        return _begin(profile, args, params, place, terminal), foreground
    except BaseException:
        foreground.leave()
        raise


def _begin(
    profile: Profile, args: "Namespace", params: dict[str, str], place: "Place | None", terminal: Terminal | None
) -> "_Started":
    sources = tuple(one.name for one in profile.loaded.bundle.sources)
    asked = Request(
        args.command_line,
        params=params,
        stdin=0,
        stdout=1,
        stderr=2,
        timeout=args.timeout,
        backend=args.backend,
        allow_wider=args.allow_wider,
        cgroup_base=args.cgroup_base,
        report=None if place is None else place.path,
        terminal=terminal.size() if terminal else None,
        relied_on=relied_on(args.file, sources),
    )
    if args.gate and gate.switched_off():
        gate.warn()
        from sbc_runtime.unsandboxed import Unsandboxed

        return Unsandboxed(profile.loaded, asked, f"{gate.SWITCH}=0")
    return profile.begin(asked)


class _Started(Cancellable, Protocol):
    """A run of which there is a report."""

    def report(self) -> "Report": ...


def _finish(started: _Started, outcome: Outcome, place: "Place | None", args: "Namespace") -> int:
    """Say and write what was asked for, and give the exit status."""
    if args.gate and (line := gate.refusal(outcome)) is not None:
        say(line)
    tell(outcome)
    try:
        return _report(started, place, args) or outcome.code
    finally:
        if place is not None:
            place.drop()


def _asks_for_bypass(args: "Namespace") -> bool:
    return any(one is not None for one in (args.attestation, args.active_sandbox_check, args.run_id))


def refuse(why: str, place: "Place | None" = None) -> int:
    """Say why nothing was run; gives the exit status."""
    say(f"sbc run: {why}; nothing was run")
    if place is not None:
        place.drop()
    return REFUSED


def say(what: str, end: str = "\n") -> bool:
    """Say something on stderr, and whether that was possible: where nobody listens, the command's end still counts."""
    try:
        print(what, end=end, file=sys.stderr, flush=True)
    except OSError:
        return False
    return True


def split_param(text: str) -> tuple[str, str]:
    """Give name and value of `-D NAME=VALUE`; `ValueError`."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ValueError(f"`-D {text}`: write `-D NAME=VALUE`")
    return name, value


def profile_of(args: "Namespace") -> Profile | None:
    """Load the bundle, or compile the profile; None where its diagnostics have been shown."""
    if args.file.endswith(".sbx"):
        return _compiled(args)
    try:
        return load(args.file)
    except BundleError:
        from sbc.diagnostics.looks import begins_as

        if begins_as(args.file) == "profile":
            why = f"{args.file} is a profile, not a bundle; compile it, or give it a name that ends in `.sbx`"
            raise ValueError(why) from None
        raise


def _compiled(args: "Namespace") -> Profile | None:
    """Give a profile's bundle: as kept, where nothing has changed since, else compiled now."""
    from pathlib import Path  # a bundle is run without it

    from sbc.cli.cached import find, keep

    file = Path(args.file)
    kept = find(file, args.profile)
    if kept is not None:
        try:
            return of_content(kept)
        except BundleError:
            pass  # damaged: made again
    from sbc.cli.output import show
    from sbc.diagnostics.diagnostic import Failed, Reporter
    from sbc.pipeline import bundle_file

    reporter = Reporter()
    try:
        made, sources = bundle_file(file, args.profile, reporter)
    except Failed as failure:
        show(dict.fromkeys((*reporter.diagnostics, *failure.diagnostics)), args, file.parent)
        refuse(f"{args.file} has errors")
        return None
    keep(file, args.profile, sources, made)
    return of_content(made)


def _report(started: _Started, place: "Place | None", args: "Namespace") -> int:
    """Write and show what was asked for; gives 125 where that cannot be done, else 0."""
    if place is None and not args.verbose and not args.json:
        return 0
    from sbc_runtime.report import to_json
    from sbc_runtime.report_text import to_text

    made = started.report()
    if args.verbose:
        say(to_text(made), end="")
    shown = not args.json or say(to_json(made).decode(), end="")
    refused = made.outcome.failure is not None and made.outcome.failure.step == "report"
    if place is not None and not refused:
        try:
            place.write(to_json(made))
        except OSError as error:
            say(f"sbc run: the report {args.report} cannot be written: {error.strerror}")
            return REFUSED
    return 0 if shown else REFUSED


def tell(outcome: Outcome) -> None:
    """Say in one line what was ours to decide, and more where that was asked for."""
    if outcome.failure is not None:
        say(f"sbc run: {outcome.failure}")
    elif outcome.by == "sandbox":
        say(f"sbc run: {_ENDINGS.get(outcome.kind, outcome.kind)}")
    for note in outcome.notes:
        if note.endswith(LOST):
            say(f"sbc run: {note}")
    for absent in outcome.absent:
        if absent.created:
            say(f"sbc run: created-protected: {absent.path} was absent, and the command made it")
    for one in outcome.replaced:
        say(f"sbc run: replaced-protected: {one.path}, by what is at {one.place} now")


_ENDINGS = {
    "timed-out": "the wall limit was reached; everything was killed",
    "cpu-limit": "the cpu limit was reached; everything was killed",
    "memory-limit": "the memory limit was reached; everything was killed",
    "process-limit": "the process limit was reached; everything was killed",
    "output-limit": "the output limit was reached; everything was killed",
    "file-size": "the limit on file size was reached",
    "cancelled": "cancelled; everything was killed",
}

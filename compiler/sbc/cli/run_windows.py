"""`sbc run` on Windows: refused, for there is no sandbox; the builder may run by an administrator's attestation."""

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from sbc.cli import gate
from sbc.cli.run import REFUSED, profile_of, refuse, split_param, tell
from sbc_runtime.api import Profile
from sbc_runtime.bypass import ONLY_ON_WINDOWS, Request, refusal
from sbc_runtime.canonical import BundleError
from sbc_runtime.open_flags import READ
from sbc_runtime.outcome import Outcome

_MOST = (16 << 10) + 1
_CHECK_SECONDS = 60
_CHECK_KEEPS = ("PATH", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERPROFILE")


def run(args: Namespace) -> int:
    """Refuse, or run by the attestation; without one nothing is read, not even the profile, unless for a report."""
    if sys.platform != "win32":
        return refuse(ONLY_ON_WINDOWS)
    if args.gate:  # also where the caller has switched the sandbox of gates off
        print(gate.REFUSED, file=sys.stderr)
        return refuse(str(refusal()))
    if args.attestation is None and not _wants_report(args):
        return refuse(str(refusal()))
    try:
        request = None if args.attestation is None else _request(args)
        params = dict(split_param(text) for text in args.params)
        profile = profile_of(args)
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}")
    except (BundleError, ValueError) as error:
        return refuse(str(error))
    if profile is None:
        return REFUSED
    if request is not None:
        print("sbc run: WITHOUT A SANDBOX, if the attestation is accepted", file=sys.stderr)
    outcome = profile.run(
        args.command_line, params=params, stdin=0, stdout=1, stderr=2, timeout=args.timeout, bypass=request
    )
    tell(outcome)
    for note in outcome.notes:
        print(f"sbc run: {note}", file=sys.stderr)
    return _report(outcome, profile, args) or outcome.code


def _wants_report(args: Namespace) -> bool:
    return args.report is not None or args.verbose or args.json


def _report(outcome: Outcome, profile: Profile, args: Namespace) -> int:
    """Write and show what was asked for; gives 125 where a report cannot be written, else 0."""
    if not _wants_report(args):
        return 0
    from sbc_runtime.report import report, to_json, write
    from sbc_runtime.report_text import to_text

    made = report(outcome, profile.loaded.bundle, {}, ())
    if args.verbose:
        print(to_text(made), end="", file=sys.stderr)
    if args.json:
        sys.stderr.write(to_json(made).decode())
    try:
        if args.report is not None:
            write(made, args.report)
    except OSError as error:
        print(f"sbc run: the report {args.report} cannot be written: {error.strerror}", file=sys.stderr)
        return REFUSED
    return 0


def _request(args: Namespace) -> Request:
    given = {
        "--backend": args.backend != "auto",
        "--pty": bool(args.pty),
        "--cgroup-base": args.cgroup_base is not None,
    }
    if (option := next((name for name, there in given.items() if there), None)) is not None:
        raise ValueError(f"`{option}` needs a sandbox, and an attestation is for a run without one")
    if args.active_sandbox_check is None:
        raise ValueError("`--attestation` needs `--active-sandbox-check`")
    program = args.active_sandbox_check
    if not Path(program).is_absolute():
        raise ValueError(f"`--active-sandbox-check {program}`: name the program by its absolute path")
    from platformdirs import user_config_dir

    with os.fdopen(os.open(args.attestation, READ), "rb") as file:
        data = file.read(_MOST)
    return Request(data, lambda: _passes(program), user_config_dir("sbc", appauthor=False), args.run_id)


def _passes(program: str) -> bool:
    """Tell whether the caller's check passes: it exits with 0. It gets only what programs need to start."""
    done = subprocess.run(  # noqa: S603
        [program],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _CHECK_KEEPS if name in os.environ},
        check=False,
        timeout=_CHECK_SECONDS,
    )
    return done.returncode == 0

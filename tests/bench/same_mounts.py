"""Bubblewrap with the same mounts: its command line, made of the plan that a run of ours carries out.

It is the one that the `bwrap` backend makes of the bundle's arguments, without the filters, and without the cover that
keeps a command from bubblewrap's own init.
"""

import os
import shutil
import subprocess
from pathlib import Path

from sbc_runtime import api, calling, kernel_view, request
from sbc_runtime.bwrap_finish import INIT, finish
from sbc_runtime.environment import build
from sbc_runtime.job import Job
from sbc_runtime.params import fill
from sbc_runtime.prepare.run import prepare

_OPTIONS = frozenset({"ro", "nosuid"})
"""What a mount is compared by. Bubblewrap has no option for the others: its /dev is `nodev`, its devices are binds."""

Mounts = dict[str, tuple[str, frozenset[str]]]
"""The kind and the options of what is seen at each place."""


def command_line(profile: api.Profile, work: Path, command: list[str]) -> list[str]:
    """Give the whole command line for a command below the work tree `work`; its descriptors are inherited."""
    bundle = profile.loaded.bundle
    asked = request.Request(command, params={"workdir": work})
    caller = calling.caller()
    values = fill(bundle.params, asked.params or {}, caller.cwd)
    given = request.streams(asked)
    options = request.options(asked, given, caller.cwd, None)
    variables = build(bundle.plan.environment, calling.environment(), values)
    job = Job("0", request.command(asked), values, variables, caller, options)
    program = None if profile.loaded.filter is None else profile.loaded.filter.program
    prepared = prepare(bundle, program, job)
    finished = finish(bundle.bwrap.arguments or (), prepared, None, (), _empty)
    environment = [word for name, value in prepared.environment for word in ("--setenv", name, value)]
    return [shutil.which("bwrap") or "bwrap", *_without_init(finished), "--clearenv", *environment, "--", *command]


def _empty() -> int:
    """Give a descriptor that has nothing to be read, for a cover of a file; it stays open."""
    descriptor = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    return descriptor


def _without_init(words: tuple[str, ...]) -> list[str]:
    """Leave out the cover of bubblewrap's init, which is none of the plan's mounts."""
    left = list(words)
    for length, name in ((4, "--perms"), (2, "--remount-ro")):
        at = next(at for at in range(len(left)) if left[at] == name and left[at + length - 1 : at + length] == [INIT])
        del left[at : at + length]
    return left


def run(line: list[str]) -> bytes:
    """Run it, and give what it wrote."""
    return subprocess.run(line, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, close_fds=False).stdout


def seen(mountinfo: bytes) -> Mounts:
    """Give what is seen at each place: of several mounts the last."""
    return {one.place: (one.kind, one.options & _OPTIONS) for one in kernel_view.lines(mountinfo)}


def both(profile: api.Profile, work: Path) -> tuple[Mounts, Mounts]:
    """Give the mounts of a run of ours, and of bubblewrap's."""
    command = ["/bin/cat", "/proc/self/mountinfo"]
    outcome = profile.run(command, params={"workdir": work}, backend="namespace")
    return seen(outcome.stdout.kept), seen(run(command_line(profile, work, command)))

"""Runs commands under the bwrap backend itself, without a supervisor: jobs as JSON on stdin, outcomes on stdout.

Run by an interpreter that the caller may execute, with the runtime alone.
"""

import base64
import json
import os
import select
import sys
from typing import Any

sys.path.insert(0, sys.argv[1])

from sbc_runtime import bwrap_find, loader, scheduling
from sbc_runtime.backends.bwrap import BwrapBackend
from sbc_runtime.backends.interface import ChildDescriptors, Watch
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Caller, Job, Options
from sbc_runtime.prepare.run import prepare


def carry_out(asked: dict[str, Any]) -> dict[str, Any]:
    loaded = loader.load(asked["bundle"])
    caller = Caller(os.getcwd(), "/", None, "/tmp", (), scheduling.own())
    environment = tuple((name, value) for name, value in asked["environment"])
    job = Job("test", tuple(asked["argv"]), asked["params"], environment, caller, Options())
    prepared = prepare(loaded.bundle, loaded.filter.program if loaded.filter else None, job)
    path = asked["program"]
    program = None if path is None else bwrap_find.Program(path, bwrap_find.version_of(path))
    backend = BwrapBackend(loaded.bundle, (), program)
    stdin, their_in = os.pipe()
    their_out, stdout = os.pipe()
    their_err, stderr = os.pipe()
    lifeline, ours = os.pipe()
    before = len(os.listdir("/proc/self/fd"))
    try:
        sandbox = backend.start(prepared, ChildDescriptors(stdin, stdout, stderr), Watch(lifeline, None))
    finally:
        for one in (stdin, stdout, stderr):
            os.close(one)
    back = sandbox.read_back()
    sandbox.release()
    os.close(their_in)
    if asked["lifeline"]:
        os.close(ours)
    select.select([sandbox.status], [], [])
    ended = sandbox.ended()
    sandbox.kill()
    sandbox.wait()
    left = len(os.listdir("/proc/self/fd")) - before
    return {
        "losses": [*backend.losses(prepared)],
        "verified": back.verified,
        "filter_bytes": back.filter_bytes,
        "ended": ended,
        "stdout": base64.b64encode(everything(their_out)).decode(),
        "stderr": base64.b64encode(everything(their_err)).decode(),
        # Four pipe ends of ours have been closed since, and whatever the command was given.
        "left": left + 4 + bool(asked["lifeline"]),
    }


def everything(descriptor: int) -> bytes:
    parts: list[bytes] = []
    while part := os.read(descriptor, 65536):
        parts.append(part)
    os.close(descriptor)
    return b"".join(parts)


def main() -> None:
    os.chdir("/")
    for asked in json.load(sys.stdin):
        try:
            told = carry_out(asked)
        except SetupFailed as failed:
            told = {"failed": [*failed.failure]}
        sys.stdout.write(json.dumps(told) + "\n")


main()

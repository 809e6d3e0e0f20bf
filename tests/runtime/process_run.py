"""Runs one command under the process backend, in a process of its own, and prints what came of it as JSON.

It plays the supervisor: `python -I -S process_run.py RUNTIME SPEC`. The backend makes its caller a subreaper, and the
tests change user ids and kill things: none of that is to reach the test's own process.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])

from sbc_runtime import libc
from sbc_runtime.backends.interface import ChildDescriptors, SetupFailed, Watch
from sbc_runtime.backends.process import ProcessBackend
from sbc_runtime.prepared import Ids, LimitValue, Mask, Mount, Prepared


def mount(spec: dict[str, Any]) -> Mount:
    place: str = spec["place"]
    source = spec.get("source", place) if spec["kind"] == "bind" else ""
    found = Path(source or "/").stat()
    empty = Mount(spec["kind"], place, source, found.st_dev, found.st_ino, True, True, False, 0, 0, "p.sbx:1")
    return empty._replace(**{name: value for name, value in spec.items() if name not in {"kind", "place", "source"}})


def descriptors() -> list[str]:
    return sorted(one.name for one in Path("/proc/self/fd").iterdir())


def prepared(spec: dict[str, Any]) -> Prepared:
    uid = os.getuid()
    host_user = spec.get("host_user", uid)
    return Prepared(
        run_id="test",
        profile="p",
        argv=tuple(spec["argv"]),
        environment=tuple(spec.get("environment", {"PATH": "/usr/bin:/bin"}).items()),
        cwd=spec.get("cwd", "/"),
        host_root=spec.get("host_root", False),
        mounts=tuple(mount(one) for one in spec.get("mounts", [])),
        links=(),
        masks=tuple(Mask(one[0], one[1], "p.sbx:2") for one in spec.get("masks", [])),
        devices=spec.get("devices", "minimal"),
        network=spec.get("network", "none"),
        ids=Ids(host_user, host_user, host_user, host_user, uid == 0),
        hostname="sandbox",
        limits=LimitValue(**spec.get("limits", {})),
        program=bytes.fromhex(spec["program"]) if "program" in spec else None,
        terminal=spec.get("terminal", False),
        params={},
        absent=(),
        losses=(),
        covered=(),
        notes=(),
    )


def main() -> None:
    spec: dict[str, Any] = json.loads(sys.argv[2])
    if "user" in spec:
        # Everything is imported by now: the user need not be able to read this interpreter's folders.
        os.setgroups([])
        os.setresgid(spec["user"], spec["user"], spec["user"])
        os.setresuid(spec["user"], spec["user"], spec["user"])
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
    plan = prepared(spec)
    backend = ProcessBackend(newest=spec.get("newest", 7))
    lifeline, held = os.pipe()
    out, out_inner = os.pipe()
    null = os.open("/dev/null", os.O_RDWR)
    told: dict[str, Any] = {"losses": [[*one] for one in backend.losses(plan)]}
    before = descriptors()
    try:
        sandbox = backend.start(plan, ChildDescriptors(null, out_inner, out_inner), Watch(lifeline, None))
        os.close(out_inner)
        read_back = sandbox.read_back()
        told |= {"protections": read_back.protections._asdict(), "expected": read_back.expected}
        told["verified"] = read_back.verified
        if spec.get("abandon"):
            sandbox.kill()
            sandbox.wait()
        else:
            sandbox.release()
            told["first"] = os.read(sandbox.terminal if plan.terminal else out, 65536).decode()
            if spec.get("killed"):
                sandbox.kill()
            elif spec.get("host_gone"):
                os.close(held)
                os.read(sandbox.status, 0)
                os.waitid(os.P_PID, sandbox.init_pid, os.WEXITED | os.WNOWAIT)
            else:
                ended = sandbox.ended()
                told["status"] = None if ended is None else os.waitstatus_to_exitcode(ended.status)
                told["exec_errno"] = None if ended is None else ended.exec_errno
            sandbox.wait()
        told["output"] = b"".join(iter(lambda: os.read(out, 65536), b"")).decode()
    except SetupFailed as failed:
        told["failed"] = str(failed)
        os.close(out_inner)
    after = descriptors()
    told["leaked"] = [one for one in after if one not in before]
    print(json.dumps(told))  # noqa: T201


if __name__ == "__main__":
    main()

"""Runs the reference profile in a guest, as root and as an ordinary user; prints what is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
TREES = {0: "/tmp/root", 1234: "/tmp/user"}
SCRIPT = """
id -u; hostname; cat /proc/self/status | while read a b; do
  case $a in CapEff:|CapBnd:|NoNewPrivs:|Seccomp:) echo $a $b;; esac; done
(echo x > /proc/sys/kernel/panic) 2>/dev/null && echo wrote
(echo x > /usr/x) 2>/dev/null && echo wrote
echo x > /work/x && echo work
ls /proc | while read p; do case $p in [0-9]*) echo process;; esac; done
"""
ARGUMENTS = ["/bin/sh", "-c", SCRIPT]


def as_this_user(tree: str) -> None:
    import sbc_runtime

    profile = sbc_runtime.load(HERE / "agent.sbb")
    failed: list[object] = []
    outcome = profile.run(ARGUMENTS, params={"workdir": tree})
    print(outcome.stdout.kept.decode(), outcome.stderr.kept.decode(), outcome.failure)
    lines = outcome.stdout.kept.decode().split("\n")
    if outcome.kind != "exited" or outcome.isolation is None or not outcome.isolation.verified:
        failed.append(("run", outcome.kind, outcome.failure, outcome.isolation))
    wanted = {"1000", "sandbox", "CapEff: 0000000000000000", "CapBnd: 0000000000000000", "NoNewPrivs: 1", "Seccomp: 2"}
    if not {*wanted, "work"} <= set(lines) or "wrote" in lines:
        failed.append(("seen", lines))
    hog = "import time; b = bytearray(3 << 30); b[::4096] = b'x' * len(b[::4096]); time.sleep(9)"
    outcome = profile.run(["/usr/bin/python3", "-c", hog.replace("3 << 30", "64 << 20")], params={"workdir": tree})
    if outcome.kind not in {"exited", "memory-limit"}:
        failed.append(("hog", outcome.kind, outcome.failure))
    outcome = profile.run(["/bin/sh", "-c", "sleep 60 & sleep 60"], params={"workdir": tree}, timeout=1)
    if outcome.kind != "timed-out":
        failed.append(("timeout", outcome.kind, outcome.failure))
    print(json.dumps(failed, default=str))
    sys.exit(bool(failed))


def main() -> None:
    if len(sys.argv) > 1:
        as_this_user(sys.argv[1])
    status = 0
    for user, tree in TREES.items():
        os.makedirs(tree, exist_ok=True)
        owner = user or 65534
        os.chown(tree, owner, owner)
        more = {"user": user, "group": user, "extra_groups": []} if user else {}
        done = subprocess.run([sys.executable, __file__, tree], check=False, timeout=240, **more)
        print(f"user {user}: {done.returncode}", flush=True)
        status |= done.returncode
    print("failed: none" if not status else "failed")
    sys.exit(status)


main()

"""A host for tests that kill: starts one run, says that it did, waits, and says what came of it.

Run by an interpreter that the caller may execute, with the runtime alone: `runtime bundle workdir backend mark`.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])

import sbc_runtime
from sbc_runtime.host import HOST

_, _, bundle, workdir, backend, mark = sys.argv
script = f"sleep {mark} & setsid sleep {mark} & sleep {mark} & wait"
run = sbc_runtime.load(bundle).start(["/bin/sh", "-c", script], params={"workdir": workdir}, backend=backend)  # pyright: ignore[reportArgumentType]
helper = HOST._helper  # pyright: ignore[reportPrivateUsage]
sys.stdout.write(f"{helper._pid if helper else 0}\n")  # pyright: ignore[reportPrivateUsage]
sys.stdout.flush()
outcome = run.wait()
sys.stdout.write(json.dumps([outcome.kind, outcome.by, outcome.code, outcome.signal, outcome.ok]) + "\n")

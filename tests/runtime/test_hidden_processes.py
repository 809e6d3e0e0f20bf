"""A host whose /proc shows an ordinary user no processes but those that it may look into (`hidepid`, proc(5))."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.runtime.support import PATHS, ROOT, SYSTEM, USER, bundle, folder, interpreter_for_anybody, missing
from tests.runtime.test_sampling import ORPHANS, VFORK

HOST = """
import json, sys
sys.path.insert(0, sys.argv[1])
import sbc_runtime
profile = sbc_runtime.load(sys.argv[2])
outcome = profile.run(["/usr/bin/python3", "-c", sys.argv[4]], backend=sys.argv[3])
print(json.dumps([outcome.kind, outcome.isolation is not None and outcome.isolation.verified, str(outcome.failure)]))
"""
MOUNT = 'mount -t proc -o hidepid=2 proc /proc && cd / && exec "$@"'


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
@pytest.mark.parametrize(
    ("limits", "script", "kind"), [("memory 112MiB", VFORK, "exited"), ("cpu 1s", ORPHANS, "cpu-limit")]
)
def test_sampling(backend: str, limits: str, script: str, kind: str) -> None:
    """Nobody is counted twice, and orphans count, though init cannot be found any more."""
    if not Path("/usr/bin/python3").exists() or shutil.which("setpriv") is None or interpreter_for_anybody() is None:
        pytest.skip("needs /usr/bin/python3, and setpriv(1)")
    made = bundle(f"files {{ root private; {SYSTEM}; devices minimal; start-in /usr }}; {PATHS}; limits {{ {limits} }}")
    user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "/usr/bin/python3", "-I", "-c", HOST]
    command = ["unshare", "-mpf", "--kill-child", "--propagation=private", "/bin/sh", "-c", MOUNT, "sh"]
    line = [*command, *user, str(ROOT / "runtime"), str(made), backend, script]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=folder())
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        missing("root", done.stderr)
    assert json.loads(done.stdout) == [kind, True, "None"], done.stderr

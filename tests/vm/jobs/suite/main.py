"""Runs in a guest: the runtime's own tests, on this kernel; the files to run stand in `job.json`."""

import json
import os
import subprocess
import sys

CHECKOUT = "/job/checkout"
PACKAGES = "/usr/lib/python3/dist-packages"
with open("/job/job.json") as file:
    asked = json.load(file)
environment = {
    **os.environ,
    "SBC_REQUIRE": "namespace,bwrap,cgroup,root",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
# Found by every interpreter that a test starts, whatever its environment.
os.makedirs(PACKAGES, exist_ok=True)
for name in os.listdir("/job/site"):
    os.symlink(f"/job/site/{name}", f"{PACKAGES}/{name}")
options = ["-q", "--tb=short", "--color=no", "-p", "no:cacheprovider", "--confcutdir=tests/runtime"]
command = [sys.executable, "-m", "pytest", *options, *asked["arguments"]]
sys.exit(subprocess.run(command, check=False, cwd=CHECKOUT, env=environment).returncode)

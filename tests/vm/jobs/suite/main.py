"""Runs in a guest: the runtime's own tests, on this kernel; the files to run stand in `job.json`."""

import json
import os
import subprocess
import sys

CHECKOUT = "/job/checkout"
with open("/job/job.json") as file:
    asked = json.load(file)
environment = {
    **os.environ,
    "PYTHONPATH": "/job/site",
    "SBC_REQUIRE": "namespace,bwrap,cgroup,root",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
os.chmod(CHECKOUT, 0o755)
options = ["-q", "--tb=short", "--color=no", "-p", "no:cacheprovider", "--confcutdir=tests/runtime"]
command = [sys.executable, "-m", "pytest", *options, *asked["arguments"]]
sys.exit(subprocess.run(command, check=False, cwd=CHECKOUT, env=environment).returncode)

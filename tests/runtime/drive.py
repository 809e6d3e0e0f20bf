"""Carries out one run as another user: a job as JSON on stdin, its outcome as JSON on stdout.

Run by an interpreter that this user may execute, with the runtime alone.
"""

import base64
import json
import os
import sys

sys.path.insert(0, sys.argv[1])

import sbc_runtime
from sbc_runtime.outcome_codec import encode


def main() -> None:
    asked = json.load(sys.stdin)
    os.environ.clear()
    os.environ.update(asked["environ"])
    os.chdir(asked["cwd"])
    given = None if asked["stdin"] is None else base64.b64decode(asked["stdin"])
    outcome = sbc_runtime.load(asked["bundle"]).run(
        asked["argv"], params=asked["params"], stdin=given, timeout=asked["timeout"], **asked["options"]
    )
    streams = [base64.b64encode(one.kept).decode() for one in (outcome.stdout, outcome.stderr)]
    sys.stdout.write(json.dumps([base64.b64encode(encode(outcome)).decode(), *streams]))


main()

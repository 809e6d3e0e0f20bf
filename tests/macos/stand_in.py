"""Stands for sandbox-exec(1): reads the profile with our evaluator, and runs the command where it may be executed.

It enforces nothing else. Its messages and statuses are those that sandbox-exec is known for: 65 for a profile that
cannot be used, 71 where the command cannot be executed. `install` writes the program that is run in its place.
"""

import json
import os
import sys
from pathlib import Path

from sbc.diagnostics.diagnostic import Failed
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load
from tests.shared_data import ROOT

_START = """#!{python} -I
import sys
sys.path[:0] = {paths!r}
from tests.macos.stand_in import main
sys.exit(main({log!r}))
"""


def install(place: Path, log: Path) -> None:
    """Write the program; what it was run with goes to `log`."""
    paths = [str(ROOT), str(ROOT / "compiler"), str(ROOT / "runtime")]
    place.write_text(_START.format(python=sys.executable, paths=paths, log=str(log)))
    place.chmod(0o755)


def main(log: str) -> int:
    words = sys.argv[1:]
    profile, params = "", dict[str, str]()
    while words and words[0].startswith("-"):
        option, value, *words = words
        if option == "-f":
            profile = value
        elif option == "-D":
            name, _, params[name] = value.partition("=")
        else:
            return fail(64, f"illegal option {option}")
    place = Path(profile)
    seen = {
        "arguments": sys.argv[1:],
        "modes": [oct(one.stat().st_mode & 0o7777) for one in (place, place.parent)],
        "session": os.getsid(0) == os.getpid(),
        "descriptors": sorted(int(one) for one in os.listdir("/proc/self/fd") if int(one) > 2)[:-1],
        "environment": dict(os.environ),
        "umask": oct(os.umask(0o022)),
        "cwd": os.getcwd(),
    }
    Path(log).write_text(json.dumps(seen))
    try:
        loaded = load(place, params)
        allowed = decide(loaded, "process-exec", os.path.realpath(words[0]), {}).decision == "allow"
    except Failed as failed:
        return fail(65, str(failed))
    if not allowed:
        return fail(71, f"execvp() of '{words[0]}' failed: Operation not permitted")
    os.execv(words[0], words)


def fail(status: int, why: str) -> int:
    print(f"sandbox-exec: {why}", file=sys.stderr)
    return status

"""The tests that guests run need nothing that guests do not have: checked here, without one."""

import os
import subprocess
import sys
from pathlib import Path

from tests.vm.test_suite import SUITES, checkout, files_of

COLLECT = """
import sys
sys.path[:0] = [sys.argv[1], "."]
import pytest
sys.exit(pytest.main(sys.argv[2:]))
"""


def test_every_suite_is_found_with_what_guests_have(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    checkout(tmp_path)
    files = [name for suite in SUITES for name in files_of(suite)]
    options = ["-q", "--collect-only", "-p", "no:cacheprovider", "--confcutdir=tests/runtime"]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", COLLECT, str(tmp_path / "site"), *options, *files],
        cwd=tmp_path / "checkout",
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout

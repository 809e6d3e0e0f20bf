"""The example of the README, as it stands there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.support import Caller, stock
from tests.shared_data import ROOT


def test_the_example_of_the_readme(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    (example,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    (tmp_path / "build/agent-check").mkdir(parents=True)
    shutil.copy(stock("agent-check"), tmp_path / "build/agent-check/agent-check.sbb")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "Makefile").write_text("test:\n\t@echo tested; touch made\n")
    Caller("root" if Path(tree).owner() == "root" else "user").own(tree, tree / "Makefile")
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'runtime')!r})\n{example}\nassert run.wait().ok\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "exited 0 True tested\n\n"
    assert (tree / "made").exists()
    # Types are for whoever imports it, too.
    assert (ROOT / "runtime/sbc_runtime/py.typed").exists()

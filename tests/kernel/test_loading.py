"""What is read: start-up pays for the ABI that is asked for and nothing else."""

import subprocess
import sys

from tests.shared_data import ROOT

SCRIPT = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from sbc.kernel.numbers import names_of, numbers
from sbc.kernel.signature import signature
numbers("x86_64"), names_of("x86_64"), signature("x86_64", "socket")
from sbc.kernel.constants import constants
constants("x86_64")
print(sorted({name.rpartition("/")[2] for name in opened if name.endswith(".json")}))
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("dataclasses", "lark", "jinja2", "inspect")))
"""


def test_one_abi_reads_its_own_file_and_the_shared_ones() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-c", SCRIPT], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(ROOT / "compiler")},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["['constants.json', 'x86_64.json']", "[]"]

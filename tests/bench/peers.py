"""What the peers' filters measure: their stored filters, and libseccomp itself where the machine has it."""

import ctypes
import ctypes.util
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sbc.backends.bpf.const_allow import const_allow
from sbc.backends.bpf.target import BITMAP_NUMBERS, longest_path
from sbc_runtime.action import KILL_PROCESS
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import Program, unpack
from tests.shared_data import shared_folder

PEERS = ("kafel", "gvisor", "minijail", "libseccomp", "libseccomp-opt2", "elastic", "seccompiler")


class Measured(NamedTuple):
    """A peer's figures for one policy."""

    instructions: int
    longest_path: int
    constant: int


def measured(program: Program) -> Measured:
    constant = const_allow(program, ARCHES["x86_64"].audit, range(BITMAP_NUMBERS))
    return Measured(len(program), longest_path(program), len(constant))


def stored(policy: str) -> dict[str, Measured]:
    """Measure the peers' stored filters for a policy, by peer; those that are not there are left out."""
    folder = shared_folder()
    found: dict[str, Measured] = {}
    for peer in PEERS if folder else ():
        path = Path(str(folder)) / "bench" / "peer-filters" / f"{peer}-{policy}.bpf"
        if path.exists():
            found[peer] = measured(unpack(path.read_bytes(), "little"))
    return found


class Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp` (libseccomp's `seccomp.h`)."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    )


_OPERATIONS = {"NE": 1, "LT": 2, "LE": 3, "EQ": 4, "GE": 5, "GT": 6, "MASKED_EQ": 7}


def libseccomp(path: Path) -> Callable[[], tuple[Program, float]] | None:
    """Give what makes a policy's filter with this machine's libseccomp, and times it; None where it has none.

    A policy with comparisons that libseccomp has no word for (any bit of a set) gives None too.
    """
    name = ctypes.util.find_library("seccomp")
    source = json.loads(path.read_text())
    tests = [test for rule in source["rules"] for conjunction in rule["conds"] or () for test in conjunction]
    if name is None or any(test["op"] not in _OPERATIONS for test in tests):
        return None
    library = ctypes.CDLL(name)
    library.seccomp_init.restype = ctypes.c_void_p

    def make() -> tuple[Program, float]:
        start = time.perf_counter()
        context = ctypes.c_void_p(library.seccomp_init(_action(*source["default"])))
        library.seccomp_attr_set(context, 2, KILL_PROCESS.ret())  # SCMP_FLTATR_ACT_BADARCH
        for rule in source["rules"]:
            disjunction: list[list[dict[str, Any]]] = rule["conds"] or [[]]
            for conjunction in disjunction:
                comparisons = (Comparison * max(len(conjunction), 1))(*map(_comparison, conjunction))
                action = _action(rule["action"], rule["errno"])
                library.seccomp_rule_add_array(context, action, rule["nr"], len(conjunction), comparisons)
        with tempfile.TemporaryFile() as file:
            library.seccomp_export_bpf(context, file.fileno())
            seconds = time.perf_counter() - start
            file.seek(0)
            program = unpack(file.read(), "little")
        library.seccomp_release(context)
        return program, seconds

    return make


def _action(action: str, errno: int) -> int:
    return 0x7FFF0000 if action == "ALLOW" else 0x00050000 | errno


def _comparison(test: dict[str, Any]) -> Comparison:
    """A comparison as libseccomp takes it: `a` is the mask of MASKED_EQ, `b` its value."""
    return Comparison(test["arg"], _OPERATIONS[test["op"]], test["value"], test.get("value2", 0))

"""The container engines' profile (OCI JSON), read for a process without added capabilities."""

import json
from pathlib import Path
from typing import Any

from sbc.kernel.constants import errno
from sbc.kernel.signature import signature
from sbc_runtime.action import ALLOW, Verdict, errno_verdict

ENGINE_NAMES = {"x86_64": "amd64", "aarch64": "arm64", "i386": "x86", "loongarch64": "loong64", "mips64el": "mips64le"}
"""What the file calls an ABI, where it is not our name."""


class EngineProfile:
    """What the file decides for a call by its name, each argument read with the kernel's width."""

    def __init__(self, path: Path) -> None:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self.default = errno_verdict(data["defaultErrnoRet"])
        self._rules: list[dict[str, Any]] = data["syscalls"]

    def names(self, abi: str) -> set[str]:
        """Every call that a rule for an ABI names."""
        return {name for rule in self._rules if _applies(rule, abi) for name in rule["names"]}

    def values(self, call: str) -> set[int]:
        """The values that rules compare a call's arguments with."""
        rules = [rule for rule in self._rules if call in rule["names"]]
        return {test["value"] for rule in rules for test in rule.get("args") or ()}

    def decide(self, abi: str, call: str, args: tuple[int, ...]) -> Verdict:
        """Read the file literally. The engines' rules never contradict each other: the first that holds decides."""
        for rule in self._rules:
            if (
                call in rule["names"]
                and _applies(rule, abi)
                and all(_holds(abi, call, test, args) for test in rule.get("args") or ())
            ):
                return ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else errno_verdict(_errno(abi, rule["errnoRet"]))
        return self.default


def _errno(abi: str, number: int) -> int:
    """Give the ABI's own number: the file writes those of x86-64, and means the error (mips: ENOSYS is 89)."""
    names = [name for name, value in errno("x86_64").items() if value == number]
    return errno(abi)[names[0]]


def _applies(rule: dict[str, Any], abi: str) -> bool:
    name = ENGINE_NAMES.get(abi, abi)
    includes, excludes = rule.get("includes", {}), rule.get("excludes", {})
    arches = includes.get("arches")
    return "caps" not in includes and (arches is None or name in arches) and name not in excludes.get("arches", ())


def _width(abi: str, call: str, index: int) -> int:
    known = signature(abi, call)
    read = known.register(index) if known is not None else None
    return read.width if read is not None else 64


def _holds(abi: str, call: str, test: dict[str, Any], args: tuple[int, ...]) -> bool:
    index: int = test["index"]
    value = args[index] & ((1 << _width(abi, call, index)) - 1)
    wanted: int = test["value"]
    match test["op"]:
        case "SCMP_CMP_EQ":
            return value == wanted
        case "SCMP_CMP_LT":
            return value < wanted
        case "SCMP_CMP_GT":
            return value > wanted
        case "SCMP_CMP_MASKED_EQ":
            return value & wanted == int(test.get("valueTwo", 0))
        case other:
            raise AssertionError(other)

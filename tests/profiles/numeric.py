"""Policies in numeric form (JSON of the measurements): rules of one ABI, the first that matches a number decides."""

import json
from pathlib import Path
from typing import Any

from sbc_runtime.action import ALLOW, KILL_PROCESS, Verdict, errno_verdict
from sbc_runtime.arch import X32_BIT

AUDIT = 0xC000003E


class NumericPolicy:
    """A policy of x86_64: another architecture and every x32 number is killed."""

    def __init__(self, path: Path) -> None:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self.default = _verdict(*data["default"])
        self.rules: dict[int, list[dict[str, Any]]] = {}
        for rule in data["rules"]:
            self.rules.setdefault(rule["nr"], []).append(rule)

    @property
    def asking(self) -> set[int]:
        """The numbers that some rule asks arguments of."""
        return {number for number, rules in self.rules.items() if any(rule["conds"] for rule in rules)}

    def decide(self, audit: int, number: int, args: tuple[int, ...]) -> Verdict:
        """Read the policy literally."""
        if audit != AUDIT or number >= X32_BIT:
            return KILL_PROCESS
        for rule in self.rules.get(number, []):
            if rule["conds"] is None or any(all(_holds(c, args) for c in every) for every in rule["conds"]):
                return _verdict(rule["action"], rule["errno"])
        return self.default


def _verdict(action: str, errno: int) -> Verdict:
    return ALLOW if action == "ALLOW" else errno_verdict(errno)


def _holds(test: dict[str, Any], args: tuple[int, ...]) -> bool:
    index: int = test["arg"]
    width: int = test.get("width", 64)
    value = args[index] & ((1 << width) - 1)
    wanted: int = test.get("value", 0)
    match test["op"]:
        case "EQ":
            return value == wanted
        case "LT":
            return value < wanted
        case "GT":
            return value > wanted
        case "MASKED_EQ":
            return value & wanted == int(test["value2"])
        case "ANYSET":
            return value & wanted != 0
        case "NOTIN32":
            return value & 0xFFFFFFFF not in test["values"]
        case other:
            raise AssertionError(other)

"""The two reference policies of the peers' comparison, read from their numeric form.

A rule's `conds` is an OR of ANDs of comparisons on an argument, of 64 bits unless it says `"width": 32`.
"""

import json
from pathlib import Path
from typing import Any

from sbc.policy.conditions import ALWAYS, AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.origin import Origin
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule
from sbc_runtime.action import ALLOW, KILL_PROCESS, Verdict, errno_verdict
from sbc_runtime.arch import ARCHES


def load_policy(path: Path) -> FilterPolicy:
    """Give the policy of a file, for x86-64 alone; every other ABI is killed."""
    source = json.loads(path.read_text())
    rules = tuple(
        Rule(
            rule["nr"],
            rule["name"],
            _verdict(rule["action"], rule["errno"]),
            _origin(rule["name"]),
            _condition(rule["conds"]),
        )
        for rule in source["rules"]
    )
    abi = AbiRules(ARCHES["x86_64"], rules, _verdict(*source["default"]), _origin("default"))
    return FilterPolicy((abi,), KILL_PROCESS, _origin("foreign-abi"))


def _origin(text: str) -> Origin:
    return Origin("syscalls", text)


def _verdict(action: str, errno: int) -> Verdict:
    return ALLOW if action == "ALLOW" else errno_verdict(errno)


def _condition(conds: list[list[dict[str, Any]]] | None) -> Condition:
    if conds is None:
        return ALWAYS
    return AnyOf(tuple(AllOf(tuple(_test(test) for test in conjunction)) for conjunction in conds))


def _test(test: dict[str, Any]) -> Condition:
    arg, width, value = test["arg"], test.get("width", 64), test.get("value", 0)
    last = (1 << width) - 1
    match test["op"]:
        case "EQ":
            return Between(arg, width, value, value)
        case "NE":
            return Not(Between(arg, width, value, value))
        case "LT":
            return Between(arg, width, 0, value - 1)
        case "LE":
            return Between(arg, width, 0, value)
        case "GT":
            return Between(arg, width, value + 1, last)
        case "GE":
            return Between(arg, width, value, last)
        case "MASKED_EQ":
            return Masked(arg, width, value, test["value2"])
        case "ANYSET":
            return Not(Masked(arg, width, value, 0))
        case "NOTIN32":
            return Not(AnyOf(tuple(Between(arg, 32, one, one) for one in test["values"])))
        case other:
            raise ValueError(f"unknown comparison {other}")

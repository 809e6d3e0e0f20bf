"""Published verdicts as rows of `comparison.json`: each case's profile and path, moved below W.

`(deny default)` would stop every program, so that it stands for what is below W alone: `(deny file* (subpath W))` comes
first and decides last of all rules with a filter, as the default does; nothing else of the case's rules changes.
"""

import re
from typing import Any

from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load

Case = dict[str, Any]

_ACTIONS = {
    "file-read-data": "read", "file-read-metadata": "stat", "file-write-data": "write", "file-write-create": "create",
    "file-write-unlink": "unlink", "file-write-mode": "chmod",
}  # fmt: skip

NOT_A_ROW = {
    **dict.fromkeys(("c010", "c070", "c080", "c127"), "it takes another machine: row `other-port`"),
    **dict.fromkeys(("c029", "c055"), "the script looks up no Mach service"),
    **dict.fromkeys(("c050", "c052", "c092"), "no program starts where the root folder cannot be read"),
    **dict.fromkeys(("c112", "c113", "c119", "c121", "c118"), "it takes a default of deny, under which nothing starts"),
    **dict.fromkeys(("c065", "c091", "c131"), "it is about a device of the system"),
    **dict.fromkeys(("c074", "c076"), "row `bind-by-inbound`"),
    **dict.fromkeys(("c115", "c116"), "row `open-process-star`"),
    "c022": "the script sets no set-user-id bit",
    "c110": "the script mounts nothing",
    "c068": "the script listens on 127.0.0.1 alone",
    "c088": "row `exec`",
    "c089": "row `signal-outside`",
}
"""Cases that a program under sandbox-exec, in a folder of its own, cannot try, or that another row has."""

_LINKS = re.compile(r'"/(?:tmp|var|etc|home|System/Volumes/Data)\b')
"""A path through a link of the system: rows `tmp-is-private`, `data-volume` and `through-a-link`."""


def is_row(case: Case) -> bool:
    """Tell whether a case can be tried: all others are in `NOT_A_ROW`, or spelled through a link of the system."""
    return case["id"] not in NOT_A_ROW and not _LINKS.search(case["profile"] + f'"{case["target"]}"')


def row(case: Case, port: int) -> Case:
    """Give a case as a row; `make`: what it needs below W (a folder ends in `/`, a socket in `=`)."""
    if case["expect"] == "error":
        return _row(case, case["profile"], "read", "a/file", [])
    target = case["target"].removeprefix("unix ")
    if target.startswith("remote tcp "):
        there = target.rpartition(":")[2]
        text = case["profile"].replace("(deny default)", "(deny network*)").replace(f":{there}", f":{port}")
        return _row(case, _whole(text, case["params"]), "connect", "tcp", [])
    path = target.removeprefix("/")
    if case["target"] != target:
        text = case["profile"].replace("(deny default)", "(deny network*)")
        return _row(case, _whole(text, case["params"]), "connect", path, [f"{path}="])
    action = "symlink" if case.get("attrs") == {"vnode": "SYMLINK"} else _ACTIONS[case["op"]]
    text = case["profile"].replace("(deny default)", '(deny file* (subpath (s "")))')
    new = action in ("create", "symlink")
    return _row(case, _whole(text, case["params"]), action, path, [f"{path.rpartition('/')[0]}/" if new else path])


def _row(case: Case, profile: str, action: str, path: str, make: list[str]) -> Case:
    expected = "open" if case.get("disputed") or case.get("quirk") else case["expect"].replace("error", "refused")
    made = {"id": case["id"], "profile": profile, "action": action, "path": path, "expected": expected}
    return {**made, "make": make} if make else made


def _whole(text: str, params: dict[str, str]) -> str:
    """Give a profile with every path below W."""
    rules = text.removeprefix("(version 1)").replace("(allow default)", "")
    for name, value in params.items():
        rules = rules.replace(f'(param "{name}")', f'"{value}"')
    rules = re.sub(r'#"\^(/[^"]*)"', _expression, rules)
    rules = re.sub(r'(?<![#\w\\])"(/(?:\\.|[^"\\])*)"', lambda found: f'(s "{found[1].rstrip("/")}")', rules)
    return f'(version 1)\n(allow default)\n(define (s path) (string-append (param "W") path))\n{rules}\n'


def _expression(found: "re.Match[str]") -> str:
    # Its quote is not that of a path: the pass over paths leaves it alone.
    return f'(string-append "^" (param "W") #"{found[1]}")'


def answer(case: Case, made: Case, folder: str, port: int) -> str:
    """Give what the evaluator answers of a row."""
    target = f"{folder}/{made['path']}"
    if made["action"] == "connect":
        target = f"unix {target}" if made["path"] != "tcp" else f"remote tcp 127.0.0.1:{port}"
    attributes: dict[str, str] = dict(case.get("attrs") or {})
    if case["op"].startswith("file") and not attributes:
        attributes["vnode-type"] = "REGULAR-FILE"
    try:
        return decide(load(Source("row.sb", made["profile"]), {"W": folder}), case["op"], target, attributes).decision
    except Failed:
        return "refused"

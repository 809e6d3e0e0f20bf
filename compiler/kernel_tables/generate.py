"""Write the tables of compiler/sbc/kernel/data/. See README.md here for what it reads and how to get that."""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import abis
from arguments import arguments
from calls import calls
from constants import Sources, constants
from families import FAMILIES
from siblings import siblings
from signatures import Tree
from since import since

DATA = Path(__file__).resolve().parent.parent / "sbc" / "kernel" / "data"
Values = dict[str, dict[str, dict[str, int]]]


def main() -> None:
    """Read the sources that the command line names and write every generated table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, action="append", required=True, help="a source tree; the first decides")
    parser.add_argument("--headers", type=Path, action="append", required=True, help="the linux-libc-dev of each tree")
    parser.add_argument("--manual", type=Path, required=True, help="syscalls.2.gz of the man pages")
    parser.add_argument("--output", type=Path, default=DATA, help="the folder to write to")
    options = parser.parse_args()
    for name, text in tables(options.tree, options.headers, options.manual).items():
        (options.output / name).write_text(text)


def tables(trees: Sequence[Path], headers: Sequence[Path], manual: Path) -> dict[str, str]:
    """The content of each file, by name."""
    by_abi = calls([Tree(path) for path in trees])
    names = {call for known in by_abi.values() for call in known["numbers"]}
    sources = [Sources(header, tree) for header, tree in zip(headers, trees, strict=False)]
    with tempfile.TemporaryDirectory() as scratch:
        values = {abi.name: constants(sources, abi, Path(scratch)) for abi in abis.ALL}
    common = {family.name: _common(values, family.name) for family in FAMILIES if family.name != "errno"}
    for abi, known in by_abi.items():
        known["errno"] = values[abi]["errno"]
        known["constants"] = _differences(values[abi], common)
    texts = {family.name: family.text for family in FAMILIES}
    files: dict[str, dict[str, object]] = {f"{abi}.json": dict(known) for abi, known in by_abi.items()}
    files["calls.json"] = since(manual, names)
    files["constants.json"] = {name: [texts[name], found] for name, found in common.items()}
    files["arguments.json"] = arguments(_argument_names(by_abi), set(texts))
    files["siblings.json"] = siblings(names)
    return {name: dump(content) for name, content in files.items()}


def _argument_names(by_abi: dict[str, dict[str, Any]]) -> dict[str, set[str]]:
    """The argument names of each call on any ABI."""
    found: dict[str, set[str]] = {}
    for known in by_abi.values():
        for call, text in known["signatures"].items():
            found.setdefault(call, set()).update(part.split(",")[0] for part in text.split(";") if part)
    return found


def _common(values: Values, family: str) -> dict[str, int]:
    """For each constant of a family the value that most ABIs give it; of equals, the first ABI's."""
    names = sorted({name for found in values.values() for name in found[family]})
    return {
        name: Counter(found[family][name] for found in values.values() if name in found[family]).most_common(1)[0][0]
        for name in names
    }


def _differences(own: dict[str, dict[str, int]], common: dict[str, dict[str, int]]) -> dict[str, int | None]:
    """What an ABI has other values for; None where it has no such constant."""
    return {
        name: own[family].get(name)
        for family, found in common.items()
        for name, value in found.items()
        if own[family].get(name) != value
    }


def dump(data: dict[str, object]) -> str:
    """Compact JSON, one line for each key of the first level."""
    lines = (f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}" for key, value in data.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# Builds wheel and sdist, installs each in a fresh environment and compiles a real profile from another folder.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-$root/.venv/bin/python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root/profiles/agent-check.sbx" "$work/"
cd "$work"
PYTHONPATH="$root/compiler:$root/runtime" "$python" -m sbc.cli.main compile agent-check.sbx -o checkout >/dev/null 2>&1

# What an installed package must be: whole, of its own folder, and quick.
cat >check.py <<'PYTHON'
import sys
from pathlib import Path

import sbc
from sbc.cli.main import main
from sbc.data import grammar_folder, profiles_folder
from sbc.diagnostics.diagnostic import Reporter
from sbc.syntax import stored, tables
from sbc.syntax.reading import read_source

assert sys.prefix in sbc.__file__, sbc.__file__
assert tables.packaged(tables.grammar_text()) is not None, "no tables in the package"
library = sorted((profiles_folder() / "lib").glob("*.sbx"))
assert len(library) >= 3, library
for path in library:
    source = read_source(path, f"<{path.stem}>", Reporter())
    assert source is not None
    kept = grammar_folder() / stored.FOLDER / f"{path.stem}.tree.json"
    assert stored.decode(kept.read_bytes(), source) is not None, f"no tree of {path.name} in the package"
assert main(["compile", "agent-check.sbx", "-o", sys.argv[1]]) == 0
slow = {"lark", "jinja2", "rich"} & set(sys.modules)
assert not slow, f"compiling imports {slow}"
assert not Path.home().joinpath(".cache").exists(), "something was made that the package should hold"
PYTHON

check() { # NAME PACKAGE
  "$python" -m venv "$work/$1"
  "$work/$1/bin/pip" install -q "$2"
  mkdir "$work/home-$1"
  env -i PATH=/usr/bin:/bin HOME="$work/home-$1" "$work/$1/bin/python" check.py "out-$1" >/dev/null 2>"$1.err" ||
    { cat "$1.err"; exit 1; }
  env -i PATH=/usr/bin:/bin HOME="$work/home-$1" "$work/$1/bin/sbc" check agent-check.sbx >/dev/null
  diff -r checkout "out-$1"
}

"$python" -m pip wheel -q --no-deps -w wheel "$root"
check from-wheel wheel/*.whl
(cd "$root" && "$python" -m hatchling build -t sdist -d "$work/sdist" >/dev/null)
check from-sdist sdist/*.tar.gz
echo 'wheel and sdist: whole, and the same bytes as the checkout'

#!/usr/bin/env bash
# Builds the wheel, installs it in a fresh environment and compiles a real profile from another folder.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-$root/.venv/bin/python}" -m pip wheel -q --no-deps -w "$work" "$root"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q "$work"/*.whl
cp "$root/profiles/agent-check.sbx" "$work/"
cd "$work"
env -i PATH=/usr/bin:/bin HOME="$work" "$work/venv/bin/sbc" compile agent-check.sbx -o out
env -i PATH=/usr/bin:/bin HOME="$work" "$work/venv/bin/python" -c 'import sys, sbc; assert sys.prefix in sbc.__file__'
"$root/.venv/bin/sbc" compile "$root/profiles/agent-check.sbx" -o checkout >/dev/null
for file in out/*; do cmp "$file" "checkout/${file#out/}"; done
echo 'wheel: the same bytes as the checkout'

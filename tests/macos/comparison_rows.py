"""The rows of `comparison.json`: small profiles, what is done under them, and the question that is the same.

`python -m tests.macos.comparison_rows` writes the file anew; a test keeps it in step with the evaluator. W is a folder
that the script makes; in it are `a/file`, `a/b/file`, `ab/file`, `Mixed/File`, `q"x`, `b\\x`, `sp ace/ü`, a link `link`
to `a`, a hard link `hard` to `a/file`, and sockets `sock` and `open.sock` that are listened on.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load
from tests.macos.comparison_cases import Case, is_row, row
from tests.shared_data import shared

PLACE = Path(__file__).with_name("comparison.json")
W = "/private/tmp/w"
PORT = 40123

# id, rules after `(version 1) (allow default)`, action, its path below W (or word), operation, target (None: that path)
Row = tuple[str, str, str, str, str, str | None]

ROWS: tuple[Row, ...] = (
    ("last-filtered-wins", '(deny file-read* (subpath (s "/a"))) (allow file-read* (literal (s "/a/file")))',
     "read", "a/file", "file-read-data", None),
    ("last-filtered-wins-deny", '(allow file-read* (literal (s "/a/file"))) (deny file-read* (subpath (s "/a")))',
     "read", "a/file", "file-read-data", None),
    ("concrete-beats-wildcard", '(allow file-read-data (subpath (s "/a"))) (deny file-read* (literal (s "/a/file")))',
     "read", "a/file", "file-read-data", None),
    ("concrete-named-too", '(allow file-read-data (subpath (s "/a"))) (deny file-read* file-read-data (literal (s "/a/file")))',
     "read", "a/file", "file-read-data", None),
    ("wildcard-metadata", '(allow file-read-data (subpath (s "/a"))) (deny file-read* (literal (s "/a/file")))',
     "stat", "a/file", "file-read-metadata", None),
    ("bare-is-fall-through", '(deny file-read* (literal (s "/a/file"))) (allow file-read*)',
     "read", "a/file", "file-read-data", None),
    ("bare-deny-yields", '(allow file-write* (subpath (s "/a"))) (deny file-write*)',
     "write", "a/file", "file-write-data", None),
    ("bare-deny-elsewhere", '(allow file-write* (subpath (s "/a"))) (deny file-write*)',
     "write", "ab/file", "file-write-data", None),
    ("subpath-boundary", '(deny file-read* (subpath (s "/a")))', "read", "ab/file", "file-read-data", None),
    ("subpath-below", '(deny file-read* (subpath (s "/a")))', "read", "a/b/file", "file-read-data", None),
    ("subpath-itself", '(deny file-read* (subpath (s "/a")))', "list", "a", "file-read-data", None),
    ("literal-not-below", '(deny file-read* (literal (s "/a")))', "read", "a/file", "file-read-data", None),
    ("literal-itself", '(deny file-read* (literal (s "/a")))', "list", "a", "file-read-data", None),
    ("read-data-leaves-stat", '(deny file-read-data (literal (s "/a/file")))', "stat", "a/file",
     "file-read-metadata", None),
    ("through-a-link", '(deny file-read* (subpath (s "/a")))', "read", "link/file", "file-read-data", "W/a/file"),
    ("link-spelled-in-the-rule", '(deny file-read* (literal (s "/link/file")))', "read", "link/file",
     "file-read-data", "W/a/file"),
    ("tmp-is-private", '(deny file-read* (subpath "/tmp"))', "read", "a/file", "file-read-data", None),
    ("data-volume", '(deny file-read* (subpath "/System/Volumes/Data"))', "read", "a/file", "file-read-data", None),
    ("hard-link", '(deny file-read* (literal (s "/a/file")))', "read", "hard", "file-read-data", None),
    ("create", '(deny file-write-create (subpath (s "/a")))', "create", "a/new", "file-write-create", None),
    ("create-not-data", '(deny file-write-create (subpath (s "/a")))', "write", "a/file", "file-write-data", None),
    ("write-wildcard", '(deny file-write* (subpath (s "/a")))', "write", "a/file", "file-write-data", None),
    ("mode", '(deny file-write-mode (literal (s "/a/file")))', "chmod", "a/file", "file-write-mode", None),
    ("unlink", '(deny file-write-unlink (literal (s "/a/file")))', "unlink", "a/file", "file-write-unlink", None),
    ("rename-is-unlink", '(deny file-write-unlink (literal (s "/a")))', "rename", "a", "file-write-unlink", None),
    ("rename-above-a-denied", '(deny file-write* (subpath (s "/a/b")))', "rename", "a", "file-write-unlink", None),
    ("pinned-folder-still-takes", '(deny file-write-unlink (literal (s "/a")))', "create", "a/new",
     "file-write-create", None),
    ("ancestors", '(deny file-write-unlink (path-ancestors (s "/a/b/file")))', "rename", "a", "file-write-unlink", None),
    ("ancestors-not-itself", '(deny file-write-unlink (path-ancestors (s "/a/b/file")))', "unlink", "a/b/file",
     "file-write-unlink", None),
    ("link-is-its-own", '(deny file-link (subpath (s "/a")))', "link", "a/linked", "file-link", None),
    ("deep-allow-names-concrete",
     '(deny file-write* file-write-data (subpath (s "/a"))) (allow file-write* file-write-data (subpath (s "/a/b")))',
     "write", "a/b/file", "file-write-data", None),
    ("quote-in-name", '(deny file-read* (literal (s "/q\\"x")))', "read", 'q"x', "file-read-data", None),
    ("backslash-in-name", '(deny file-read* (literal (s "/b\\\\x")))', "read", "b\\x", "file-read-data", None),
    ("space-in-name", '(deny file-read* (subpath (s "/sp ace")))', "list", "sp ace", "file-read-data", None),
    ("regex", '(deny file-read* (regex "/a/fi[l]e$"))', "read", "a/file", "file-read-data", None),
    ("regex-anchored", '(deny file-read* (regex "^/a/file$"))', "read", "a/file", "file-read-data", None),
    ("require-all", '(deny file-read* (require-all (subpath (s "/a")) (require-not (literal (s "/a/file")))))',
     "read", "a/file", "file-read-data", None),
    ("require-any", '(deny file-read* (require-any (literal "/nothing") (literal (s "/a/file"))))',
     "read", "a/file", "file-read-data", None),
    ("exec", '(deny process-exec* (literal "/usr/bin/true"))', "exec", "/usr/bin/true", "process-exec", "/usr/bin/true"),
    ("exec-in-a-child", '(deny file-read* (literal (s "/a/file")))', "child-read", "a/file", "file-read-data", None),
    ("inherited-descriptor", '(deny file-read* (literal (s "/a/file")))', "inherited", "a/file", "file-read-data", "open"),
    ("signal-outside", "(deny signal) (allow signal (target self))", "signal", "parent", "signal", "others"),
    ("signal-self", "(deny signal)", "signal", "self", "signal", "self"),
    ("no-network", "(deny network*)", "connect", "tcp", "network-outbound", f"remote tcp 127.0.0.1:{PORT}"),
    ("localhost", f'(deny network*) (allow network-outbound (remote ip "localhost:{PORT}"))', "connect", "tcp",
     "network-outbound", f"remote tcp 127.0.0.1:{PORT}"),
    ("other-port", '(deny network*) (allow network-outbound (remote ip "localhost:1"))', "connect", "tcp",
     "network-outbound", f"remote tcp 127.0.0.1:{PORT}"),
    ("bind-denied", "(deny network*)", "bind", "tcp", "network-bind", "local tcp 127.0.0.1:0"),
    ("bind-by-inbound", "(deny network*) (allow network-inbound (local ip))", "bind", "tcp", "network-bind", "open"),
    ("unix-by-path", '(deny network*) (allow network-outbound (literal (s "/open.sock")))', "connect", "open.sock",
     "network-outbound", "unix W/open.sock"),
    ("unix-other-path", '(deny network*) (allow network-outbound (literal (s "/open.sock")))', "connect", "sock",
     "network-outbound", "unix W/sock"),
    ("file-deny-leaves-socket", '(deny file-read* file-write* (literal (s "/sock")))', "connect", "sock",
     "network-outbound", "unix W/sock"),
    ("shared-memory", "(deny ipc-posix-shm*)", "shm", "sbc.compare", "ipc-posix-shm-write-create", "sbc.compare"),
    # Open questions: the evaluator gives no answer, or one that nobody has watched.
    ("open-case", '(deny file-read* (literal (s "/mixed/FILE")))', "read", "Mixed/File", "file-read-data", "open"),
    ("open-case-subpath", '(deny file-read* (subpath (s "/MIXED")))', "read", "Mixed/File", "file-read-data", "open"),
    ("open-regex-case", '(deny file-read* (regex "/mixed/file$"))', "read", "Mixed/File", "file-read-data", "open"),
    ("open-trailing-slash", '(deny file-read* (subpath (s "/a/")))', "read", "a/file", "file-read-data", "open"),
    ("open-trailing-slash-literal", '(deny file-read* (literal (s "/a/")))', "list", "a", "file-read-data", "open"),
    ("open-empty-path", '(deny file-write* (subpath ""))', "write", "a/file", "file-write-data", "open"),
    ("open-repeated-anchor", '(deny file-read* (regex "^*/a/file$"))', "read", "a/file", "file-read-data", "open"),
    ("open-no-default", "", "connect", "tcp", "network-outbound", "open"),
    ("open-count", '(deny file-read* (regex "/a/fi{1}le$"))', "read", "a/file", "file-read-data", "open"),
    ("open-word", '(deny file-read* (regex "/a/\\\\w+$"))', "read", "a/file", "file-read-data", "open"),
    ("open-accent", '(deny file-read* (literal (s "/sp ace/u\u0308")))', "read", "sp ace/\u00fc", "file-read-data", "open"),
    ("open-process-star", "(deny process*)(allow process-exec*)(allow process-fork)", "info", "parent",
     "process-info-pidinfo", "open"),
    ("open-create-for-link", '(deny file-write-create (literal (s "/a/linked")))', "link", "a/linked", "file-link", "open"),
)  # fmt: skip


_NO_DEFAULT = "(version 1)\n(allow file* process* mach* ipc* iokit* sysctl* system* signal)\n"


def whole(rules: str) -> str:
    """Give a row's profile; `s` puts W before a path. No rules: a profile that says nothing of the default."""
    if not rules:
        return _NO_DEFAULT
    return f'(version 1)\n(allow default)\n(define (s path) (string-append (param "W") path))\n{rules}\n'


def answer(row: Row) -> str:
    """Give what the evaluator answers: allow, deny, or open."""
    _, rules, _, path, operation, target = row
    if target == "open":
        return "open"
    asked = f"{W}/{path}" if target is None else target.replace("W/", f"{W}/")
    try:
        return decide(load(Source("row.sb", whole(rules)), {"W": W}), operation, asked, {}).decision
    except Failed as failed:
        return f"no answer: {failed.diagnostics[0].title}"


def rows() -> list[dict[str, Any]]:
    """Give the rows that are made here."""
    return [
        {"id": one[0], "profile": whole(one[1]), "action": one[2], "path": one[3], "expected": answer(one)}
        for one in ROWS
    ]


def text(cases: Iterable[Case]) -> str:
    """Give the file: those rows, and the published cases."""
    made = [*rows(), *(row(case, PORT) for case in cases if is_row(case))]
    lines = ",\n".join(json.dumps(one) for one in made)
    return f"[\n{lines}\n]\n"


def published() -> list[Case]:
    """Give the published cases."""
    place = shared("cases", "sbpl-verdicts.jsonl")
    return [json.loads(line) for line in place.read_text("utf-8").splitlines() if line]


if __name__ == "__main__":
    PLACE.write_text(text(published()), encoding="utf-8")

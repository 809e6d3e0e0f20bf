"""Policies of any shape, as text: what a profile may say of files, the network and the `seatbelt` block on macOS."""

from pathlib import Path

from hypothesis import strategies as st

from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.pipeline import load_policy
from sbc.policy.policy import Policy

_NAMES = st.sampled_from(
    ["a", "b", "c", "A", "d e", 'q"', "b\\", "ü", "x[1]", "a.b", "(", ".*", "#;", "a$", "^", "tmp", "(allow default)"]
)
_TOPS = st.sampled_from(
    ["opt", "opt", "opt", "tmp", "private/tmp", "var", "etc", "home", "Users", "dev", "usr", "System"]
)
_BELOW = st.lists(_NAMES, max_size=3).map(lambda parts: "".join(f"/{part}" for part in parts))
_DEVICES = st.sampled_from(["/dev", "/dev/null", "/dev/tty", "/dev/fd", "/dev/ttys003", "/dev/disk0"])
_LITERAL = st.one_of(st.tuples(_TOPS, _BELOW).map(lambda one: f"/{one[0]}{one[1]}"), _DEVICES, st.just("/"))


def quoted(text: str) -> str:
    """Quote a path as the language does; `${` of a parameter stays."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'


_LITERALS = _LITERAL.map(quoted)
_BASED = st.tuples(st.sampled_from(["home", "tmpdir", "cwd", "tree", "out", "one"]), _BELOW).map(
    lambda one: f'"${{{one[0]}}}{quoted(one[1])[1:]}'
)
_PATHS = st.one_of(_LITERALS, _LITERALS, _BASED)

_FILTERS = st.sampled_from(
    [
        'subpath "/"',
        'subpath "/opt/a"',
        'literal "/opt/a/b"',
        r'regex "/\\.env$"',
        'require-not { subpath "/opt/a" }',
        'require-all { subpath "/opt"; regex "a" }',
        'require-any { literal "/private/tmp/a"; subpath "/Users" }',
    ]
)
_FILE_OPERATIONS = (
    "file*", "file-read*", "file-read-data", "file-read-metadata", "file-write*", "file-write-data",
    "file-write-create", "file-write-unlink", "file-ioctl", "file-lock", "file-link", "process-exec*",
    "process-exec-interpreter", "file-map-executable", "network-outbound", "network*",
)  # fmt: skip
_OTHERS = st.sampled_from(
    [
        'mach-lookup { global-name "com.apple.logd" }',
        'mach-lookup { global-name-prefix "com.apple" }',
        "mach-lookup",
        'mach* { global-name-prefix "com.apple.l" }',
        'mach* { global-name "com.apple.logd" }',
        "mach*",
        'iokit* { iokit-property "x" }',
        'iokit-get-properties { iokit-property "x" }',
        "mach-task-read",
        "mach-task-read { target others }",
        "mach-priv-task-port { target others }",
        "signal",
        "signal { target others }",
        "process-info*",
        "process-info-pidinfo { target self }",
        "process*",
        "process-fork",
        "sysctl-read",
        'sysctl-read { sysctl-name "hw.ncpu" }',
        "sysctl*",
        "ipc-posix-shm*",
        'ipc-posix-shm-read-data { ipc-posix-name "apple.shm.notification_center" }',
        'ipc-posix-shm-write-create { ipc-posix-name "x" }',
        "ipc*",
        "system-socket",
        "pseudo-tty",
        "lsopen",
        "appleevent-send",
        "iokit*",
        "nvram*",
        "nvram-get",
        "dynamic-code-generation",
        "user-preference-read",
        'network-outbound { remote ip "*:443" }',
        'network-outbound { remote ip "localhost:*" }',
        'network-bind { local ip "*:*" }',
        "network* { remote unix-socket }",
        "network-inbound",
        'default { subpath "/opt" }',
    ]
)
_ON_FILES = st.tuples(
    st.lists(st.sampled_from(_FILE_OPERATIONS), min_size=1, max_size=2, unique=True), st.none() | _FILTERS
).map(lambda one: " ".join(one[0]) + (f" {{ {one[1]} }}" if one[1] else ""))
_RULES = st.tuples(st.sampled_from(["allow", "deny"]), _ON_FILES | _OTHERS).map(" ".join)
_RAW = _RULES | _RULES | _RULES | _RULES.map(lambda rule: f"on linux {{ {rule} }}")
_STATED = st.tuples(
    st.sampled_from(["read", "write", "hide"]),
    _PATHS,
    st.sampled_from(["", "", "", " noexec", " optional"]),
    st.sampled_from(["{}", "{}", "{}", "{}", "on macos {{ {} }}", "on linux {{ {} }}"]),
).map(lambda one: one[3].format(f"{one[0]} {one[1]}{one[2]}"))
_FILE_LINES = st.tuples(
    st.sampled_from(
        [[], ["root host"], ["root host"], ["root private"], ["on macos { root private }", "on linux { root host }"]]
    ),
    st.lists(_STATED, max_size=6),
    st.sampled_from([[], [], ["tmp /tmp"], ["on linux { tmp /tmp }"]]),
    st.sampled_from([[], *([f"devices {kind}"] for kind in ("none", "minimal", "standard", "host"))]),
).map(lambda parts: [line for part in parts for line in part])
_SOCKETS = _PATHS.map(lambda path: f"unix {path}")
_LISTED = st.lists(
    st.sampled_from(["connect localhost:80", "connect localhost:*", "bind localhost:3000", "connect localhost:65535"])
    | _SOCKETS,
    max_size=3,
    unique=True,
)
_NETWORK = st.tuples(st.sampled_from(["none", "host"]), st.none() | _LISTED).map(
    lambda one: f"network {one[0]}" + ("" if one[1] is None else f" {{ {'; '.join(one[1])} }}")
)


def texts(*, block: bool) -> st.SearchStrategy[str]:
    """Give profiles; `block`: with rules in the `seatbelt` block, imports among them."""
    raw = st.lists(_RAW, max_size=4) if block else st.just([])
    imported = st.sampled_from([[], [], [], ['import "system.sb"']]) if block else st.just([])
    default = st.sampled_from(["default allow", "default deny"])
    return st.tuples(_FILE_LINES, _NETWORK, st.none() | st.tuples(default, raw, imported)).map(_profile)


def _profile(parts: tuple[list[str], str, tuple[str, list[str], list[str]] | None]) -> str:
    lines, network, block = parts
    raw = (
        "" if block is None else "seatbelt {\n" + "\n".join([block[0], *block[1][:2], *block[2], *block[1][2:]]) + "\n}"
    )
    params = "param tree : dir\nparam out : dir\nparam one : file"
    return "sbx 1\nprofile p {\n" + "\n".join([params, "files {", *lines, "}", network, raw]) + "\n}\n"


def policy_of(text: str, folder: Path) -> Policy | None:
    """Compile a text as far as its policy; None where it is refused."""
    path = folder / "p.sbx"
    path.write_text(text, encoding="utf-8")
    try:
        return load_policy(path, None, Reporter())
    except Failed:
        return None

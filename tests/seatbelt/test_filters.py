"""Filters: what matches, what does not, and what is not known."""

import pytest

from tests.seatbelt.asking import asked, decision

OPEN = "SBX451"
"""The answer depends on what is not said, or not known of macOS."""


@pytest.mark.parametrize(
    ("one", "path", "expected"),
    [
        ('(literal "/a/b")', "/a/b", True),
        ('(literal "/a/b")', "/A/B", True),
        ('(literal "/a/b")', "/a/b/c", False),
        ('(path "/a")', "/a", True),
        ('(path-literal "/a")', "/a", True),
        ('(literal "/a" "/b")', "/b", True),
        ('(subpath "/a")', "/a", True),
        ('(subpath "/a")', "/a/b/c", True),
        ('(subpath "/a")', "/ab", False),
        ('(subpath "/")', "/", True),
        ('(subpath "/")', "/x/y", True),
        ('(subpath "/tmp/")', "/private", False),
        ('(literal "/tmp/")', "/private", False),
        ('(prefix "/a/b")', "/a/bc", True),
        ('(prefix "/a/b")', "/a/b/c", True),
        ('(prefix "/a/b")', "/a", False),
        ('(path-ancestors "/a/b/c")', "/", True),
        ('(path-ancestors "/a/b/c")', "/a/b", True),
        ('(path-ancestors "/a/b/c")', "/a/b/c", False),
        ('(path-ancestors "/")', "/", True),
        ('(regex #"^/a/[^/]+$")', "/a/b", True),
        ('(regex #"^/a/[^/]+$")', "/a/b/c", False),
        ('(regex #"b")', "/abc", True),
        ('(regex #"^/(?:a|b)$")', "/a", False),
        ('(require-all (subpath "/a") (require-not (literal "/a/b")))', "/a/c", True),
        ('(require-all (subpath "/a") (require-not (literal "/a/b")))', "/a/b", False),
        ('(require-any (literal "/a") (literal "/b"))', "/b", True),
        ('(subpath "/é")', "/é/x", True),
    ],
)
def test_paths(one: str, path: str, *, expected: bool) -> None:
    assert decision(f"(deny default)(allow file-read* {one})", "file-read-data", path) == (
        "allow" if expected else "deny"
    )


@pytest.mark.parametrize(
    ("one", "path"),
    [
        ('(subpath "/a/")', "/a/b"),  # what a slash at the end does
        ('(literal "/a/")', "/a"),
        ('(require-not (literal "/a/"))', "/a"),
        ('(subpath "")', "/a"),  # what an empty path is
        ('(require-all (subpath ""))', "/a"),
        ('(literal "")', "/a"),
        ('(regex #"^*/a")', "/a"),  # to repeat a place
        ('(regex #"^/a$?")', "/a"),
        ('(regex #"^/a$")', "/A"),  # case of regular expressions
        ('(regex #"^/a\\d")', "/a1"),
        ('(regex #"^/a{2}")', "/aa"),
        ('(literal "/É")', "/é"),  # letters beyond ASCII
        ('(literal "/e\u0301")', "/é"),
        ('(regex #"^/.$")', "/é"),  # bytes or characters
        ("(vnode-type DIRECTORY)", "/a"),  # not said
        ("(require-not (vnode-type DIRECTORY))", "/a"),
        ('(require-entitlement "x")', "/a"),
        ('(subpath "${HOME}")', "/a"),
    ],
)
def test_what_is_not_known_is_not_answered(one: str, path: str) -> None:
    assert decision(f"(deny default)(allow file-read* {one})", "file-read-data", path) == OPEN
    # ... but where it makes no difference, there is an answer.
    assert decision(f"(allow default)(allow file-read* {one})", "file-read-data", path) == "allow"
    assert decision(f'(deny file-read* {one})(deny file-read* (subpath "/"))', "file-read-data", path) == "deny"


def test_the_rule_of_a_doubt_is_named() -> None:
    text = '(deny default)\n(allow file-read* (literal "/a"))\n(deny file-read* (vnode-type SYMLINK))'
    assert asked(text, "file-read-data", "/b").decision == "deny"
    assert decision(text, "file-read-data", "/a") == OPEN
    assert decision(text, "file-read-data", "/a", vnode_type="SYMLINK") == "deny"
    assert decision(text, "file-read-data", "/a", vnode="DIRECTORY") == "allow"


@pytest.mark.parametrize(
    ("one", "attributes", "expected"),
    [
        ("(vnode-type DIRECTORY SYMLINK)", {"vnode-type": "SYMLINK"}, "allow"),
        ("(vnode-type DIRECTORY)", {"vnode-type": "SYMLINK"}, "deny"),
        ('(extension "x")', {}, "deny"),
        ('(extension "x")', {"extension": "x"}, "allow"),
        ("(file-mode #o4000)", {"file-mode": "0o4755"}, "allow"),
        ("(file-mode #o4000)", {"file-mode": "0o755"}, "deny"),
        ("(uid 0)", {"uid": "501"}, "deny"),
        ('(process-path "/bin/ls")', {"process-path": "/bin/ls"}, "allow"),
        ('(process-subpath "/bin")', {"process-path": "/bin/ls"}, "allow"),
        ("(process-attribute is-sandboxed)", {"process-attribute": "is-sandboxed"}, "allow"),
        ('(filesystem-name "apfs")', {"filesystem-name": "APFS"}, "allow"),
    ],
)
def test_further_facts(one: str, attributes: dict[str, str], expected: str) -> None:
    assert asked(f"(deny default)(allow file-read* {one})", "file-read-data", "/a", attributes).decision == expected


def test_extended_attributes() -> None:
    text = '(deny default)(allow file-read-xattr (xattr "com.apple.X"))'
    assert decision(text, "file-read-xattr", "/a", xattr="com.apple.x") == "allow"
    assert decision(text, "file-read-xattr", "/a", xattr="other") == "deny"


@pytest.mark.parametrize(
    ("one", "operation", "target", "expected"),
    [
        ('(remote ip "localhost:*")', "network-outbound", "remote tcp 127.0.0.1:1", "allow"),
        ('(remote ip "localhost:*")', "network-outbound", "remote udp [::1]:1", "allow"),
        ('(remote ip "localhost:*")', "network-outbound", "remote tcp localhost:1", "allow"),
        ('(remote ip "localhost:*")', "network-outbound", "remote tcp [::ffff:127.0.0.1]:1", "deny"),
        ('(remote ip "localhost:*")', "network-outbound", "remote tcp 127.0.0.2:1", "deny"),
        ('(remote ip "localhost:80")', "network-outbound", "remote tcp 127.0.0.1:81", "deny"),
        ('(remote tcp "*:443")', "network-outbound", "remote tcp 1.1.1.1:443", "allow"),
        ('(remote tcp "*:443" "*:80")', "network-outbound", "remote tcp 1.1.1.1:80", "allow"),
        ('(remote tcp "*:443")', "network-outbound", "remote udp 1.1.1.1:443", "deny"),
        ('(remote tcp "*:443")', "network-outbound", "remote ip 1.1.1.1:443", OPEN),
        ("(remote ip6)", "network-outbound", "remote tcp 1.1.1.1:443", "deny"),
        ("(remote ip6)", "network-outbound", "remote tcp [::1]:443", "allow"),
        ("(remote tcp4)", "network-outbound", "remote tcp [::1]:443", "deny"),
        ("(remote tcp4)", "network-outbound", "remote tcp localhost:443", OPEN),
        ("(remote tcp4)", "network-outbound", "remote tcp4 localhost:443", "allow"),
        ("(remote udp)", "network-outbound", "remote ip 1.1.1.1:443", OPEN),
        ('(remote tcp "*:65535")', "network-outbound", "remote tcp 1.1.1.1:65535", "allow"),
        ("(local ip6)", "network-bind", "local tcp *:1", OPEN),
        ("(local ip6)", "network-bind", "local tcp4 *:1", "deny"),
        ("(remote ip)", "network-outbound", "remote tcp 1.1.1.1:443", "allow"),
        ("(remote ip)", "network-outbound", "unix /a", "deny"),
        ("(to ip)", "network-outbound", "remote tcp 1.1.1.1:443", "allow"),
        ('(local ip "localhost:9")', "network-outbound", "remote tcp 1.1.1.1:443", "allow"),
        ("(local udp)", "network-outbound", "remote tcp 1.1.1.1:443", "deny"),
        ('(local ip "localhost:3000")', "network-bind", "local tcp 127.0.0.1:3000", "allow"),
        ('(local ip "localhost:3000")', "network-bind", "local tcp *:3000", "deny"),
        ("(remote ip)", "network-bind", "local tcp 127.0.0.1:3000", "deny"),
        ("(remote unix-socket)", "network-outbound", "unix /a", "allow"),
        ("(remote unix)", "network-outbound", "remote tcp 1.1.1.1:443", "deny"),
        ('(remote unix-socket (path-literal "/a"))', "network-outbound", "unix /a", "allow"),
        ('(remote unix-socket (path-literal "/a"))', "network-outbound", "unix /b", "deny"),
        ('(literal "/a")', "network-outbound", "unix /a", "allow"),
        ('(subpath "/")', "network-outbound", "remote tcp 1.1.1.1:443", "deny"),
        ("(local unix-socket)", "network-bind", "unix /a", "allow"),
        ("(remote unix-socket)", "network-bind", "unix /a", OPEN),
    ],
)
def test_network(one: str, operation: str, target: str, expected: str) -> None:
    assert decision(f"(deny default)(allow network* {one})", operation, target) == expected


@pytest.mark.parametrize(
    ("word", "target", "expected"),
    [
        ("self", "self", True),
        ("same-sandbox", "self", True),
        ("pgrp", "self", True),
        ("others", "self", False),
        ("self", "others", False),
        ("same-sandbox", "others", False),
        ("others", "others", True),
        ("same-sandbox", "same-sandbox", True),
        ("self", "children", False),
        ("children", "children", True),
        ("same-sandbox", "children", True),
        ("pgrp", "children", None),
    ],
)
def test_targets(word: str, target: str, *, expected: bool | None) -> None:
    found = decision(f"(deny process-info*)(allow process-info* (target {word}))", "process-info-pidinfo", target)
    assert found == {True: "allow", False: "deny", None: OPEN}[expected]


RELATIONS = """
              self pgrp children same-sandbox others initproc
self          yes  yes  no       yes          no     no
pgrp          no   yes  open     open         open   no
children      no   open yes      yes          open   no
same-sandbox  no   open open     yes          open   no
others        no   no   no       no           yes    open
initproc      no   no   no       no           open   yes
"""
"""How the other process stands, and what each word then says."""

SERVICES = """
                  a    b  global-name:a local-name:a xpc-service-name:a local-name:b
global-name       yes  no yes           no           no                 no
local-name        open no no            yes          no                 no
xpc-service-name  open no no            no           yes                no
"""

CONNECTIONS = """
                                 remote:tcp:::1 local:tcp:::1 remote:udp:::1 local:udp:::1 unix:/a none
network-outbound:remote:tcp      yes            open          no             no            no      open
network-outbound:local:tcp       yes            yes           no             no            no      open
network-bind:remote:tcp          yes            no            no             no            no      open
network-bind:local:tcp           open           yes           no             no            no      open
network-inbound:remote:tcp       yes            no            no             no            no      open
network-inbound:local:tcp        open           yes           no             no            no      open
network-outbound:remote:unix     no             no            no             no            yes     open
network-outbound:local:unix      no             no            no             no            open    open
network-bind:remote:unix         no             no            no             no            open    open
network-bind:local:unix          no             no            no             no            yes     open
network-inbound:remote:unix      no             no            no             no            yes     open
network-inbound:local:unix       no             no            no             no            yes     open
"""

_CELLS = {"yes": "allow", "no": "deny", "open": OPEN}


def cells(table: str) -> list[tuple[str, str, str]]:
    """Give each cell of a table: its row, its column, and the answer."""
    head, *lines = (line.split() for line in table.strip().splitlines())
    assert all(len(line) == len(head) + 1 for line in lines)
    return [(line[0], one, _CELLS[cell]) for line in lines for one, cell in zip(head, line[1:], strict=True)]


@pytest.mark.parametrize(("stands", "word", "expected"), cells(RELATIONS))
def test_every_relation(stands: str, word: str, expected: str) -> None:
    rules = f"(deny process-info*)(allow process-info* (target {word}))"
    assert decision(rules, "process-info-pidinfo", stands) == expected


@pytest.mark.parametrize(("kind", "service", "expected"), cells(SERVICES))
def test_every_kind_of_service(kind: str, service: str, expected: str) -> None:
    rules = f'(deny default)(allow mach-lookup ({kind} "a"))'
    assert decision(rules, "mach-lookup", service.replace(":", " ")) == expected


@pytest.mark.parametrize(("one", "target", "expected"), cells(CONNECTIONS))
def test_every_side_of_a_connection(one: str, target: str, expected: str) -> None:
    operation, side, kind = one.split(":")
    word = f'({side} tcp "localhost:1")' if kind == "tcp" else f'({side} unix-socket (path-literal "/a"))'
    first, _, rest = target.partition(":")
    asking = (
        None if target == "none" else f"{first} {rest}" if first == "unix" else f"{first} {rest[:3]} [{rest[4:6]}1]:1"
    )
    assert decision(f"(deny default)(allow {operation} {word})", operation, asking) == expected


@pytest.mark.parametrize(
    ("operation", "one", "target", "expected"),
    [
        ("mach-lookup", '(global-name "a.b")', "a.b", "allow"),
        ("mach-lookup", '(global-name "a.b")', "a.B", "deny"),
        ("mach-lookup", '(global-name "a.b")', "local-name a.b", "deny"),
        ("mach-lookup", '(local-name "a.b")', "local-name a.b", "allow"),
        ("mach-lookup", '(local-name "a.b")', "a.b", OPEN),
        ("mach-lookup", '(local-name "a.b")', "a.c", "deny"),
        ("mach-lookup", '(xpc-service-name "a")', "xpc-service-name a", "allow"),
        ("mach-lookup", '(global-name-prefix "a.")', "a.b", "allow"),
        ("mach-lookup", '(global-name-regex #"^a[.]")', "a.b", "allow"),
        ("sysctl-read", '(sysctl-name "HW.ncpu")', "hw.ncpu", "allow"),
        ("sysctl-read", '(sysctl-name-prefix "hw.")', "hw.ncpu", "allow"),
        ("sysctl-read", '(sysctl-name-regex #"^hw.")', "kern.x", "deny"),
        ("ipc-posix-shm-read-data", '(ipc-posix-name "/a")', "/A", "allow"),
        ("ipc-posix-shm-read-data", '(ipc-posix-name-prefix "a")', "b", "deny"),
        ("iokit-open-user-client", '(iokit-user-client-class "A")', "A", "allow"),
        ("user-preference-read", '(preference-domain "com.a")', "com.a", "allow"),
        ("nvram-get", '(nvram-variable "x")', "y", "deny"),
        ("appleevent-send", '(appleevent-destination "com.a")', "com.a", "allow"),
    ],
)
def test_names(operation: str, one: str, target: str, expected: str) -> None:
    assert decision(f"(deny default)(deny {operation})(allow {operation} {one})", operation, target) == expected


def test_signals_and_numbers() -> None:
    text = "(deny default)(allow signal (require-all (target others) (signal-number SIGTERM)))"
    assert decision(text, "signal", "others", signal_number="SIGTERM") == "allow"
    assert decision(text, "signal", "others", signal_number="9") == "deny"
    assert decision(text, "signal", "others") == OPEN
    text = "(deny default)(allow system-fsctl (fsctl-command FSIOC_CAS_BSDFLAGS))"
    assert decision(text, "system-fsctl", None, fsctl_command="FSIOC_CAS_BSDFLAGS") == "allow"
    assert decision(text, "system-fsctl", None, fsctl_command="FSIOC_OTHER") == "deny"
    assert decision(text, "system-fsctl", None, fsctl_command="7") == OPEN
    text = "(deny default)(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))"
    assert decision(text, "system-socket", None, socket_domain="AF_SYSTEM", socket_protocol="2") == "allow"
    assert decision(text, "system-socket", None, socket_domain="AF_INET", socket_protocol="2") == "deny"


@pytest.mark.parametrize(
    ("operation", "target"),
    [
        ("file-reed", "/a"),
        ("file-read-data", "a/b"),
        ("file-read-data", "/a/../b"),
        ("file-read-data", "/a//b"),
        ("file-read-data", "/a/"),
        ("file-read-data", "/a\0"),
        ("file-read-data", "/" + "a" * 5000),
        ("file-read-data", "remote tcp 1.1.1.1:1"),
        ("signal", "/a"),
        ("signal", "them"),
        ("network-outbound", "remote tcp example.com:80"),
        ("network-outbound", "remote sctp 1.1.1.1:80"),
        ("network-outbound", "remote tcp 1.1.1.1"),
        ("network-outbound", "remote tcp6 1.1.1.1:80"),
        ("network-outbound", "remote tcp4 [::1]:80"),
        ("network-outbound", "remote tcp 1.1.1.1:65536"),
        ("network-outbound", "remote tcp 1.1.1.1:x"),
        ("network-outbound", "remote tcp *:80"),
        ("network-outbound", "remote tcp [::1:80"),
        ("network-outbound", "remote tcp ::1]:80"),
    ],
)
def test_questions_that_are_none(operation: str, target: str) -> None:
    assert decision("(allow default)", operation, target) == "SBX450"


@pytest.mark.parametrize(
    "attributes", [{"colour": "red"}, {"vnode-type": "THING"}, {"uid": "root"}, {"notification-payload": "yes"}]
)
def test_attributes_that_are_none(attributes: dict[str, str]) -> None:
    assert decision("(allow default)", "file-read-data", "/a", **attributes) == "SBX450"

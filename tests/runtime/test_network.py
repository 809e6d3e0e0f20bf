"""No way out with `network none`: the host's listeners are not reached; with `network host` the same ones are."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out

FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 16MiB; devices minimal; start-in /tmp }}; {PATHS}"
SCRIPT = """
import socket, sys
port, name = int(sys.argv[1]), sys.argv[2]
def attempt(what, family, address):
    s = socket.socket(family)
    s.settimeout(3)
    try:
        s.connect(address)
        print(what, "reached")
    except OSError as error:
        print(what, "not")
attempt("tcp", socket.AF_INET, ("127.0.0.1", port))
attempt("abstract", socket.AF_UNIX, "\\0" + name)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    s.sendto(b"x", ("192.0.2.1", 9)); print("out reached")
except OSError:
    print("out not")
own = socket.socket(); own.bind(("127.0.0.1", 0)); own.listen()
attempt("own", socket.AF_INET, own.getsockname())
"""


@pytest.fixture
def listeners() -> Iterator[list[str]]:
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as abstract:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        name = f"sbc-test-{tcp.getsockname()[1]}"
        abstract.bind("\0" + name)
        abstract.listen()
        yield [str(tcp.getsockname()[1]), name]


def told(caller: Caller, network: str, listeners: list[str]) -> dict[str, str]:
    made: Path = bundle(f"{FILES}; network {network}")
    lines = out(caller.run(made, ["/usr/bin/python3", "-c", SCRIPT, *listeners])).splitlines()
    return {one.split()[0]: one.split()[1] for one in lines}


def test_nothing_is_reached_without_a_network(caller: Caller, listeners: list[str]) -> None:
    assert told(caller, "none", listeners) == {"tcp": "not", "abstract": "not", "out": "not", "own": "reached"}


def test_the_control(caller: Caller, listeners: list[str]) -> None:
    seen = told(caller, "host", listeners)
    assert {seen[one] for one in ("tcp", "abstract", "own")} == {"reached"}


def test_ipc_and_names_are_private(caller: Caller) -> None:
    made = bundle(f"{FILES}; network none; syscalls none")
    script = (
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.shmget(0x5bc, 4096, 0o1666) >= 0, len(open('/proc/sysvipc/shm').readlines()))\n"
    )
    assert out(caller.run(made, ["/usr/bin/python3", "-c", script])) == "True 2\n"
    assert "0x5bc" not in Path("/proc/sysvipc/shm").read_text()
    assert str(0x5BC) not in [one.split()[0] for one in Path("/proc/sysvipc/shm").read_text().splitlines()]


def test_privileges_are_not_gained(caller: Caller) -> None:
    made = bundle(f"{FILES}; network none; syscalls none")
    # Without a filter only namespaces, capabilities and no_new_privs stand between.
    script = "su -c id 2>/dev/null; mount -t tmpfs x /tmp 2>/dev/null || echo 1; chroot / true 2>/dev/null || echo 2"
    assert out(caller.run(made, script)).split() == ["1", "2"]

"""Every mount's options as the kernel shows them inside: the table of mounts, on both backends."""

from typing import NamedTuple

from tests.runtime.support import Caller, bundle, out
from tests.runtime.test_paths import BASE, PATHS

KEPT = {"nosuid", "nodev"}
OPTIONS = {
    "/": {"ro", *KEPT},
    "/usr": {"ro", *KEPT},
    "/w": {"rw", *KEPT},
    "/w/a": {"ro", *KEPT},
    "/tmp": {"rw", *KEPT},
    "/dev": {"ro", "nosuid", "noexec"},
    "/dev/null": {"rw", "nosuid", "noexec"},
    "/dev/urandom": {"rw", "nosuid", "noexec"},
    "/dev/shm": {"rw", *KEPT, "noexec"},
    "/proc": {"rw", *KEPT, "noexec"},
    "/proc/sys": {"ro", *KEPT, "noexec"},
}
"""What has to be said of each; what else stands there is how access times are kept."""

BWRAP = {"/dev": {"ro", *KEPT, "noexec"}, "/proc/sys": {"ro", *KEPT}}
"""Where bubblewrap differs: no device is made in its /dev, all are bound; and what it binds over parts of /proc, where
nothing can be executed, does not say so."""

WORDS = {"ro", "rw", "nosuid", "nodev", "noexec"}


class Line(NamedTuple):
    """A line of mountinfo: the options of the mount, what it shares with others, its kind, the superblock's options."""

    options: set[str]
    shared: list[str]
    kind: str
    own: dict[str, str]


def lines(caller: Caller, backend: str, files: str, tree: object) -> dict[str, Line]:
    made = bundle(f"param t : dir; files {{ {files} }}; {PATHS}; network none")
    told = out(caller.run(made, "cat /proc/self/mountinfo", {"t": tree}, backend=backend))
    found: dict[str, Line] = {}
    for line in told.splitlines():
        head, _, tail = line.partition(" - ")
        _, _, _, _, place, options, *shared = head.split()
        kind, _, own = tail.split()
        values = {name: value for name, _, value in (one.partition("=") for one in own.split(","))}
        found[place] = Line(set(options.split(",")) & WORDS, shared, kind, values)
    return found


def size(text: str) -> int:
    return int(text.rstrip("km")) << {"k": 10, "m": 20}.get(text[-1], 0)


def test_every_mount_has_its_options(caller: Caller, backend: str) -> None:
    tree = caller.tree()
    (tree / "a").mkdir()
    caller.own(tree / "a")
    files = f"{BASE}; write ${{t}} as /w; read ${{t}}/a; tmp /tmp size 3MiB inodes 77; start-in /w"
    seen = lines(caller, backend, files, tree)
    own = {} if backend == "namespace" else BWRAP
    assert {place: seen[place].options for place in OPTIONS} == OPTIONS | own
    assert [place for place, line in seen.items() if line.shared] == []
    for place, kind in {"/": "tmpfs", "/tmp": "tmpfs", "/dev": "tmpfs", "/dev/shm": "tmpfs", "/proc": "proc"}.items():
        assert seen[place].kind == kind
    assert size(seen["/tmp"].own["size"]) == 3 << 20
    assert seen["/tmp"].own["nr_inodes"] == "77"
    assert size(seen["/dev/shm"].own["size"]) <= 64 << 20
    assert "size" not in seen["/dev"].own or size(seen["/dev"].own["size"]) <= 64 << 10


def test_all_of_the_hosts_tree(caller: Caller, backend: str) -> None:
    tree = caller.tree()
    seen = lines(caller, backend, "root host; read /; devices minimal; write ${t}; tmp /tmp size 1MiB", tree)
    assert seen["/"].options == {"ro", *KEPT}
    assert [place for place, line in seen.items() if line.shared] == []
    writable = {
        place for place, line in seen.items() if "rw" in line.options and not place.startswith(("/dev", "/proc"))
    }
    assert writable == {"/tmp", str(tree)}
    for place, line in seen.items():
        assert place.startswith("/dev") or line.options >= KEPT, (place, line)
        assert "nosuid" in line.options, (place, line)

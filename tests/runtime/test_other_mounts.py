"""What mounts of the host show by another path is protected there too."""

from typing import Any

import pytest

from tests.runtime.support import Caller, bundle, interpreter_for_anybody, missing

FILES = """
param t : dir
files {{ {root}; write ${{t}}; read ${{t}}/.git; hide ${{t}}/secret; devices standard }}
network host
environment {{ set PATH = "/usr/bin:/bin" }}
"""

SCRIPT = """
from sbc_runtime import libc
user, sys.executable, backend, show = given
profile.run(command, params={"t": tree})  # what is imported for that cannot be read later
libc.unshare(libc.CLONE_NEWNS)
libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
binds = {"sub": ".git", "deep": ".git/in", "shown": "secret/in", "free": "plain"}
for name in (*binds, *binds.values()):
    os.makedirs(os.path.join(tree, name), exist_ok=True)
    with open(os.path.join(tree, name, "f"), "w") as file:
        file.write(name)
for above, folders, files in os.walk(tree):
    for one in ("", *files):
        os.chown(os.path.join(above, one), 65534 if user == 0 else user, -1)
for place, source in binds.items():
    libc.mount(os.path.join(tree, source), os.path.join(tree, place), None, libc.MS_BIND)
libc.mount(tree, "/mnt", None, libc.MS_BIND)
options = {}
if show.startswith("report"):
    libc.mount(os.path.join(tree, "plain"), "/media", None, libc.MS_BIND)
    options = {"report": show.split()[1]}
os.setresuid(user, user, user)
command = ["/bin/sh", "-c", f"cd {tree}; " + show]
outcome = profile.run(command, params={"t": tree}, backend=backend, **options)
tell([outcome.code, str(outcome.failure or ""), outcome.stdout.kept.decode()])
"""


def ran(root: str, user: int, backend: str, show: str) -> list[Any]:
    caller = Caller("root")
    interpreter = interpreter_for_anybody()
    if interpreter is None:
        missing("namespace", "no interpreter can be executed by an ordinary user")
    return caller.host(SCRIPT, bundle(FILES.format(root=root)), user, interpreter, backend, show)


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
@pytest.mark.parametrize("user", [0, 61235])
@pytest.mark.parametrize("root", ["root host; read /", "root private; read { /usr /bin /lib /lib64 } optional"])
def test_a_protected_path_that_a_mount_shows_elsewhere(root: str, user: int, backend: str) -> None:
    show = (
        "for one in .git .git/in sub sub/in deep free plain; do (touch $one/new) 2>/dev/null && echo $one; done; "
        "cat secret/in/f shown/f /mnt/secret/in/f 2>/dev/null; exit 0"
    )
    assert ran(root, user, backend, show) == [0, "", "free\nplain\n"]


@pytest.mark.parametrize("user", [0, 61235])
def test_what_only_reads_is_not_protected_elsewhere(user: int) -> None:
    """`read /` says nothing of a writable folder, though a mount of the same file system is in it."""
    assert ran("root private; read /", user, "namespace", "touch free/new plain/new && echo both") == [0, "", "both\n"]


@pytest.mark.parametrize("place", ["/media/r.json", "/mnt/plain/r.json", "/mnt/r.json"])
def test_no_report_goes_where_a_mount_shows_what_the_command_can_write(place: str) -> None:
    code, failure, _ = ran("root host; read /", 0, "namespace", f"report {place}")
    assert code == 125
    assert failure.startswith(f"report: `{place}` is in `")

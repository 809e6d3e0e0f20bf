"""The installation id and the nonces: made once, whoever else makes them at the same moment, and kept."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sbc_runtime.attestation import Refused
from sbc_runtime.installation import installation_id, nonce_hash, use_nonce
from tests.shared_data import ROOT
from tests.windows.support import NONCE

ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "runtime")}


def test_the_id_is_made_once_and_is_the_users_alone(tmp_path: Path) -> None:
    folder = str(tmp_path / "config" / "sbc")
    before = os.umask(0)
    try:
        made = installation_id(folder)
    finally:
        os.umask(before)
    assert len(made) == 64
    assert installation_id(folder) == made
    assert installation_id(str(tmp_path / "other")) != made
    seen = os.stat(os.path.join(folder, "installation-id"))
    assert stat.S_IMODE(seen.st_mode) == 0o600
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert os.listdir(folder) == ["installation-id"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o777])
def test_an_id_that_others_reach_is_refused(tmp_path: Path, mode: int) -> None:
    installation_id(str(tmp_path / "sbc"))
    (tmp_path / "sbc" / "installation-id").chmod(mode)
    with pytest.raises(Refused, match="installationId"):
        installation_id(str(tmp_path / "sbc"))


@pytest.mark.parametrize("content", [b"", b"ab" * 32, b"AB" * 32 + b"\n", b"ab" * 32 + b"\n\n", b"ab" * 500])
def test_a_damaged_id_is_refused_and_never_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "installation-id").write_bytes(content)
    (tmp_path / "installation-id").chmod(0o600)
    tmp_path.chmod(0o700)
    with pytest.raises(Refused, match="installationId"):
        installation_id(str(tmp_path))
    assert (tmp_path / "installation-id").read_bytes() == content


def test_what_is_no_file_of_ours_is_no_id(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    place = tmp_path / "installation-id"
    other = tmp_path / "other"
    installation_id(str(other))
    place.symlink_to(other / "installation-id")
    with pytest.raises(Refused, match="installationId"):
        installation_id(str(tmp_path))
    place.unlink()
    os.mkfifo(place, 0o600)
    with pytest.raises(Refused, match="installationId"):
        installation_id(str(tmp_path))


def test_a_folder_that_others_write_or_that_is_a_link_is_refused(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path)
    for folder in (str(open_to_all), str(linked), "sbc", "/proc/nothing"):
        with pytest.raises(Refused, match="installationId"):
            installation_id(folder)
        with pytest.raises(Refused, match="nonce"):
            use_nonce(folder, NONCE, "")


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user could not get there itself")
def test_an_id_of_another_user_is_refused(tmp_path: Path) -> None:
    installation_id(str(tmp_path / "sbc"))
    os.chown(tmp_path / "sbc" / "installation-id", 61234, 61234)
    with pytest.raises(Refused, match="installationId"):
        installation_id(str(tmp_path / "sbc"))


def test_a_nonce_is_used_once(tmp_path: Path) -> None:
    folder = str(tmp_path / "sbc")
    used = use_nonce(folder, NONCE, "run run-1")
    assert used == nonce_hash(NONCE)
    with pytest.raises(Refused, match="`nonce` was used before"):
        use_nonce(folder, NONCE, "run run-2")
    assert use_nonce(folder, NONCE.upper(), "") != used
    kept = tmp_path / "sbc" / "used-nonces" / used
    assert kept.read_text() == "run run-1\n"
    assert NONCE not in kept.name


def test_a_nonce_is_used_even_where_its_record_was_cut_short(tmp_path: Path) -> None:
    folder = tmp_path / "sbc"
    installation_id(str(folder))
    kept = folder / "used-nonces"
    kept.mkdir(0o700)
    (kept / nonce_hash(NONCE)).touch()
    with pytest.raises(Refused, match="was used before"):
        use_nonce(str(folder), NONCE, "")


def test_a_nonce_that_cannot_be_put_on_disk_is_refused_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    folder = str(tmp_path / "sbc")
    installation_id(folder)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        (tmp_path / "sbc" / "used-nonces").mkdir(0o700)
        with pytest.raises(Refused, match="cannot be recorded"):
            use_nonce(folder, NONCE, "")
    with pytest.raises(Refused, match="was used before"):
        use_nonce(folder, NONCE, "")


def test_the_record_is_on_disk_before_the_nonce_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Synced: the file with its content, then the folder with its name."""
    folder, synced = str(tmp_path / "sbc"), list[str]()
    real = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    used = use_nonce(folder, NONCE, "run run-1")
    kept = os.path.join(folder, "used-nonces")
    assert synced == [str(tmp_path), folder, os.path.join(kept, used), kept]


_ONE_OF_MANY = """
import sys
from sbc_runtime.attestation import Refused
from sbc_runtime.installation import installation_id, use_nonce
folder, tries = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
print(installation_id(folder))
for number in range(tries):
    try:
        use_nonce(folder, f"{number:032}", "")
        print("used")
    except Refused as refused:
        print(refused.field)
"""


def test_of_processes_that_use_the_same_nonces_at_the_same_moment_one_passes(tmp_path: Path) -> None:
    folder, tries, count = str(tmp_path / "sbc"), 150, 4
    processes = [
        subprocess.Popen(
            [sys.executable, "-S", "-c", _ONE_OF_MANY, folder, str(tries)],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    for one in processes:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in processes:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    answers = [one.communicate()[0].split("\n")[:-1] for one in processes]
    assert len({one[0] for one in answers}) == 1, "they made several ids"
    assert all(len(one) == tries + 1 for one in answers)
    for number in range(1, tries + 1):
        assert sorted(one[number] for one in answers) == ["nonce"] * (count - 1) + ["used"]


def test_a_process_that_dies_after_the_record_leaves_the_nonce_used(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from sbc_runtime.installation import use_nonce
use_nonce(sys.argv[1], sys.argv[2], "")
os.kill(os.getpid(), signal.SIGKILL)
"""
    folder = str(tmp_path / "sbc")
    done = subprocess.run([sys.executable, "-S", "-c", program, folder, NONCE], env=ENVIRONMENT, check=False)
    assert done.returncode == -9
    with pytest.raises(Refused, match="was used before"):
        use_nonce(folder, NONCE, "")

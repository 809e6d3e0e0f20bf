"""What is asked of a run: bytes stay bytes, and what cannot be meant is an exact error before anything is made."""

import io
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sbc_runtime
from tests.runtime.support import PATHS, RAN, SYSTEM, Caller, bundle, folder, out, stock
from tests.runtime.test_hosts import TREE, clean

FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 1MiB; devices minimal; start-in /tmp }}; network none"
PLAIN = f"{FILES}; {PATHS}"
ODD = b"caf\xc3\xa9 \xff\xfe"
"""Bytes that are UTF-8 only in part."""


@pytest.fixture(scope="module")
def latin() -> str:
    """A folder with a locale `latin` whose encoding is ISO 8859-1."""
    made = folder() / "locales"
    made.mkdir(exist_ok=True)
    try:
        subprocess.run(["localedef", "-c", "-i", "en_US", "-f", "ISO-8859-1", made / "latin"], capture_output=True)  # noqa: PLW1510
    except FileNotFoundError:
        pytest.skip("needs localedef, to make a locale that is not UTF-8")
    if not (made / "latin").is_dir():
        pytest.skip("needs the sources of locales, to make one that is not UTF-8")
    return str(made)


@pytest.mark.parametrize("kind", ["utf-8", "C", "latin"])
def test_bytes_are_what_they_were_in_every_locale(caller: Caller, kind: str, latin: str) -> None:
    """Environment, arguments, parameters, the folder, and the paths and digests that are told of them."""
    text = TREE.replace("environment {", "environment { keep ODD*;") + "\n"
    script = f"""
odd = {ODD!r}
os.environb[b"ODD_" + odd] = odd
place = os.path.join(os.fsencode(tree), odd)
os.mkdir(place)
if os.geteuid() == 0:
    os.chown(place, 65534, 65534)
code = "import os, sys; v = os.environb; os.write(1, repr((os.fsencode(sys.argv[1]), sorted(v.items()))).encode())"
found = []
for one in (os.fsdecode(odd), odd):
    for where in (place, os.fsdecode(place)):
        made = profile.start(["/usr/bin/python3", "-c", code, one], params={{"t": where}})
        found.append(made.wait().stdout.kept.decode())
os.chdir(place)
made = profile.start([b"/bin/sh", b"-c", b"pwd -P; echo hi; exit 7"], params={{"t": b"."}}, report=b"r")
found += [told(made.wait()), made.report().environment_digest, sys.getfilesystemencoding()]
tell(found)
"""
    environ = {"utf-8": {}, "C": {"LC_ALL": "C"}, "latin": {"LC_ALL": "latin", "LOCPATH": latin}}[kind]
    *found, refused, _, encoding = caller.host(script, bundle(text), environ=environ, utf8=kind == "utf-8")
    assert encoding.replace("-", "") == {"utf-8": "utf8", "C": "ascii", "latin": "iso88591"}[kind]
    seen = eval(found[0])  # noqa: S307 (what the command printed is a literal)
    assert seen[0] == ODD
    assert dict(seen[1])[b"ODD_" + ODD] == ODD
    assert found == [found[0]] * 4
    clean(refused, "report: ", "the command can write")


def test_the_digest_is_the_same_in_every_locale(caller: Caller, latin: str) -> None:
    text = PLAIN.replace("environment {", "environment { keep ODD;")
    script = f"""
os.environb[b"ODD"] = {ODD!r}
made = profile.start(command)
tell([told(made.wait()), made.report().environment_digest])
"""
    plain = caller.host(script, bundle(text))
    there = caller.host(script, bundle(text), environ={"LC_ALL": "latin", "LOCPATH": latin}, utf8=False)
    assert plain[0] == RAN
    assert plain == there


def test_a_character_that_the_locale_has_not(caller: Caller, latin: str) -> None:
    script = """
try:
    run(["/bin/echo", "\\u20ac"])
except ValueError as error:
    tell(str(error))
"""
    told = caller.host(script, bundle(PLAIN), environ={"LC_ALL": "latin", "LOCPATH": latin}, utf8=False)
    assert "no bytes in the encoding of the caller's locale" in told


class Nameless(io.RawIOBase):
    pass


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"argv": "true"}, TypeError, "sequence"),
    ({"argv": b"true"}, TypeError, "sequence"),
    ({"argv": []}, ValueError, "at least a program"),
    ({"argv": ["true", 1]}, TypeError, "int"),
    ({"argv": ["true", None]}, TypeError, "NoneType"),
    ({"argv": ["a\0b"]}, ValueError, "NUL"),
    ({"argv": [b"a\0b"]}, ValueError, "NUL"),
    ({"argv": ["\ud800"]}, ValueError, "no bytes"),
    ({"params": {"t": True}}, TypeError, "`t` is bool"),
    ({"params": {"t": 1.5}}, TypeError, "`t` is float"),
    ({"timeout": float("nan")}, ValueError, "above zero"),
    ({"timeout": float("inf")}, ValueError, "above zero"),
    ({"timeout": float("-inf")}, ValueError, "above zero"),
    ({"timeout": -1}, ValueError, "above zero"),
    ({"timeout": 0}, ValueError, "above zero"),
    ({"timeout": "1"}, TypeError, "str"),
    ({"timeout": True}, TypeError, "bool"),
    ({"allow_wider": "no"}, TypeError, "allow_wider"),
    ({"allow_wider": 1}, TypeError, "allow_wider"),
    ({"backend": None}, TypeError, "backend"),
    ({"cgroup_base": 1}, TypeError, "cgroup_base"),
    ({"cgroup_base": "\0"}, ValueError, "NUL"),
    ({"report": 1}, TypeError, "report"),
    ({"report": "a\0"}, ValueError, "NUL"),
    ({"stdin": "text"}, TypeError, "stdin"),
    ({"stdin": True}, TypeError, "stdin"),
    ({"stdin": io.BytesIO(b"x")}, ValueError, "stdin"),
    ({"stdin": 987}, ValueError, "stdin"),
    ({"stdin": -1}, ValueError, "stdin"),
    ({"stdin": 2**80}, ValueError, "stdin"),
    ({"stdout": "file"}, ValueError, "stdout"),
    ({"stdout": None}, TypeError, "stdout"),
    ({"stdout": Nameless()}, ValueError, "stdout"),
    ({"stderr": 987}, ValueError, "stderr"),
    ({"terminal": (0, 80), "stdin": 0, "stdout": 1}, ValueError, "rows"),
    ({"terminal": (24, 70000), "stdin": 0, "stdout": 1}, ValueError, "rows"),
    ({"terminal": (24, 80)}, ValueError, "descriptors"),
    ({"timeouts": 1}, TypeError, "timeouts"),
]


@pytest.mark.parametrize(
    ("asked", "kind", "words"), WRONG, ids=[f"{at}-{'-'.join(one[0])}" for at, one in enumerate(WRONG)]
)
def test_what_cannot_be_meant(asked: dict[str, Any], kind: type[Exception], words: str) -> None:
    before = set(os.listdir("/proc/self/fd"))
    whole: dict[str, Any] = {"argv": ["/bin/true"], "params": {"t": "/var/tmp"}, **asked}
    with pytest.raises(kind) as caught:
        sbc_runtime.load(bundle(TREE)).run(whole.pop("argv"), **whole)
    assert type(caught.value) is kind
    assert words in str(caught.value)
    assert set(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize("timeout", [1e308, 10**400, 1e18], ids=["float", "integer", "ages"])
def test_a_timeout_of_ages(timeout: float) -> None:
    outcome = sbc_runtime.load(bundle(PLAIN)).run(["/bin/sleep", "0.05"], timeout=timeout)
    assert outcome.ok, outcome.failure
    assert next(one.value for one in outcome.limits if one.key == "wall") <= 2**53


@pytest.mark.parametrize(
    ("value", "words"),
    [(10**30, "outside"), ("9" * 5000 + "MiB", "outside"), (-1, "outside"), ("1e400", "no size"), ("\0", "NUL")],
)
def test_amounts_that_are_none(value: str | int, words: str) -> None:
    made = bundle(
        f"param s : size; files {{ root private; {SYSTEM}; tmp /tmp size ${{s}}; devices none; start-in /tmp }}"
    )
    outcome = sbc_runtime.load(made).run(["/bin/true"], params={"s": value})
    assert (outcome.kind, outcome.code) == ("setup-failed", 125)
    assert words in str(outcome.failure)


def test_a_command_line_that_is_too_long(caller: Caller) -> None:
    """The kernel takes 128 KiB in one argument (MAX_ARG_STRLEN, execve(2))."""
    outcome = caller.run(bundle(PLAIN), ["/bin/echo", "x" * 200_000])
    assert (outcome.kind, outcome.by, outcome.code) == ("exited", "sandbox", 126)
    assert outcome.failure is not None
    assert "Argument list too long" in outcome.failure.why


def test_programs_that_are_none(caller: Caller) -> None:
    tree = caller.tree()
    for name, content, mode in (
        ("script", "#!/no/such/interpreter\n", 0o755),
        ("closed", "#!/bin/sh\n", 0o644),
        ("looped", "", 0o755),
    ):
        path = tree / name
        path.write_text(content)
        caller.own(path)
        path.chmod(mode)
    (tree / "looped").unlink()
    (tree / "looped").symlink_to("looped")
    for name, code in (("script", 127), ("closed", 126), ("looped", 126), (".", 126), ("", 127), ("none", 127)):
        outcome = caller.run(bundle(TREE), [f"./{name}" if name else ""], {"t": tree})
        assert (outcome.kind, outcome.by, outcome.code) == ("exited", "sandbox", code), (name, outcome.failure)


def test_the_callers_limit_on_files_is_not_the_end_of_a_run(caller: Caller) -> None:
    """What is captured is a file as well (RLIMIT_FSIZE): the rest is lost, the command told, and the report says so."""
    script = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
# More than a pipe takes beside what is read from it before the first write fails.
outcome = profile.run(["/bin/sh", "-c", "trap '' PIPE; head -c 10000000 /dev/zero; echo $? >&2; exit 7"])
tell([told(outcome)[:2], len(outcome.stdout.kept), outcome.stdout.cut, outcome.stderr.kept.decode(), outcome.notes])
"""
    ended, kept, cut, said, notes = caller.host(script, bundle(PLAIN))
    assert ended == ["exited", 7]
    assert (kept, cut) == (4096, True)
    assert said.splitlines()[-1] == "1"
    assert any("stdout: File too large: what came after 4096 bytes was lost" in one for one in notes)


def test_a_reader_that_goes_ends_the_writer(caller: Caller) -> None:
    """As it would without a sandbox: by SIGPIPE."""
    script = """
read, write = os.pipe()
made = profile.start(["/usr/bin/yes"], stdout=write)
os.close(write)
os.read(read, 10)
os.close(read)
outcome = made.wait()
full = os.open("/dev/full", os.O_WRONLY)
other = profile.run(["/bin/sh", "-c", "echo lost; echo more 2>/dev/null; exit 7"], stdout=full)
tell([outcome.kind, outcome.signal, outcome.stdout.cut, other.stdout.cut, other.notes])
"""
    kind, signal, cut, lost, notes = caller.host(script, bundle(PLAIN))
    assert (kind, signal, cut) == ("signalled", 13, True)
    assert lost
    assert any("stdout: No space left on device: what came after 0 bytes was lost" in one for one in notes)


@pytest.mark.slow
def test_what_is_captured_at_most() -> None:
    """The first 256 MiB; the command goes on, and outcome and report say that there was more."""
    made = sbc_runtime.load(bundle(PLAIN)).start(["/usr/bin/head", "-c", "257m", "/dev/zero"], stderr="null")
    outcome = made.wait()
    assert outcome.ok
    assert len(outcome.stdout.kept) == 256 << 20
    assert (outcome.stdout.total, outcome.stdout.cut) == (257 << 20, True)
    report = made.report()
    assert (report.stdout.total, report.stdout.cut) == (257 << 20, True)
    assert any(f"{257 << 20} bytes came, and the first {256 << 20} are kept" in one for one in report.notes)


def test_files_and_streams_of_every_kind(tmp_path: Path) -> None:
    made = sbc_runtime.load(os.fsencode(bundle(PLAIN)))
    source = tmp_path / "in"
    source.write_text("line\n")
    with source.open("rb") as given:
        assert out(made.run([Path("/bin/cat")], stdin=given)) == "line\n"
    assert out(made.run([b"/bin/cat"], stdin=b"")) == ""
    assert made.run(("/bin/true",), stdout="null", stderr="null", timeout=60).ok


def test_bundles_that_are_damaged(tmp_path: Path) -> None:
    """No byte of a bundle can change, nor be missing: an error of ours, and no other."""
    from sbc_runtime.canonical import BundleError

    content = stock("agent-check").read_bytes()
    damaged = tmp_path / "damaged.sbb"
    step = len(content) // 60
    for at in (*range(0, 200, 5), *range(200, len(content), step), len(content) - 1):
        for changed in (
            content[:at] + bytes([content[at] ^ 0x20]) + content[at + 1 :],
            content[:at] + b"\xff" + content[at + 1 :],
            content[:at],
        ):
            damaged.write_bytes(changed)
            with pytest.raises(BundleError, match="damaged"):
                sbc_runtime.load(damaged)
    for other in (b"", b"{}", b"\x7fELF", b"sbc bundle 999\n", content + b"x", b"[" * 100_000):
        damaged.write_bytes(other)
        with pytest.raises(BundleError, match="damaged"):
            sbc_runtime.load(damaged)
    for path in (tmp_path, "/dev/null", "/dev/zero", "a\0b", tmp_path / "none"):
        with pytest.raises(BundleError):
            sbc_runtime.load(path)

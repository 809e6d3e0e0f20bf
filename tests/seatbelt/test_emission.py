"""What the proof found in the emitter, each with the right answer."""

from pathlib import Path

import pytest

from sbc.backends.seatbelt.target import SeatbeltTarget
from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load
from tests.seatbelt.policies import policy_of

VALUES = {
    "home": "/Users/u",
    ":HOME": "/Users/u",
    "tmpdir": "/private/var/folders/u/T",
    "cwd": "/Users/u/cwd",
    "tree": "/opt/w/tree",
}


def decision(folder: Path, files: str, block: str, operation: str, target: str | None) -> str:
    text = f"sbx 1\nprofile p {{\n  param tree : dir\n  files {{\n{files}\n  }}\n  seatbelt {{\n{block}\n  }}\n}}\n"
    policy = policy_of(text, folder)
    assert policy is not None
    (made,) = SeatbeltTarget().emit(policy).files
    return decide(load(Source("p.sb", made.content.decode()), VALUES), operation, target).decision


HOST = "root host; write /opt/w; write ${tree}"


@pytest.mark.parametrize(
    ("files", "block", "asked", "right"),
    [
        # A deny on the very operation stands above a later allow on a wider one, in what is said anew as well.
        (
            f"{HOST}\ndevices standard",
            'default deny\ndeny file-write-data { regex "/\\\\.env$" }\nallow file-write* { subpath "/opt/w" }',
            ("file-write-data", "/opt/w/tree/.env"),
            "deny",
        ),
        # So does an allow above a later deny.
        (
            HOST,
            'default deny\nallow file-write-create { subpath "/opt/w" }\ndeny file-write* { regex "/\\\\.env$" }',
            ("file-write-create", "/opt/w/.env"),
            "allow",
        ),
        (HOST, "default deny\nallow iokit*\ndeny iokit*", ("iokit-get-properties", None), "deny"),
        (
            HOST,
            'default deny\nallow mach-lookup { global-name "com.apple.x" }\ndeny mach* { global-name-prefix "com" }',
            ("mach-lookup", "com.apple.x"),
            "allow",
        ),
        (
            HOST,
            'default deny\nallow mach-lookup { global-name "com.apple.x" }\ndeny mach* { global-name-prefix "com" }',
            ("mach-lookup", "com.apple.logd"),
            "deny",
        ),
        # A deny without a filter is not undone by an allow without one.
        (f"{HOST}\ndevices standard", "default allow\ndeny pseudo-tty", ("pseudo-tty", None), "deny"),
        # What is said of Linux takes nothing of the base away.
        (HOST, "default deny\non linux { deny mach-lookup }", ("mach-lookup", "com.apple.logd"), "allow"),
        # An operation that has no path is not named with a filter on paths: macOS would refuse the whole profile.
        (HOST, 'default deny\nallow default { subpath "/" }', ("dynamic-code-generation", None), "deny"),
        (HOST, 'default deny\ndeny default { subpath "/opt/w/x" }', ("file-write-data", "/opt/w/x"), "deny"),
        # What is hidden is not controlled either.
        (f"{HOST}\non macos {{ hide /dev/null }}", "default deny", ("file-ioctl", "/dev/null"), "deny"),
        (f"{HOST}\non macos {{ hide /dev/null }}", "default deny", ("file-ioctl", "/dev/zero"), "allow"),
        # Folders of /dev on the way to what is visible can be looked through.
        (f"{HOST}\non macos {{ read /dev/a/b }}", "default deny", ("file-read-metadata", "/dev/a"), "allow"),
        (f"{HOST}\non macos {{ read /dev/a/b }}", "default deny", ("file-read-data", "/dev/a"), "deny"),
    ],
)
def test_it_decides_right(files: str, block: str, asked: tuple[str, str | None], right: str, tmp_path: Path) -> None:
    assert decision(tmp_path, files, block, *asked) == right

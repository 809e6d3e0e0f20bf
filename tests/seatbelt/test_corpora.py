"""Public profiles: each that can be loaded loads and answers; each that is broken is refused where it is broken."""

from pathlib import Path

import pytest

from sbc.diagnostics.diagnostic import Failed
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load
from tests.shared_data import shared, shared_folder

PARAMS = {
    "DARWIN_USER_CACHE_DIR": "/private/var/folders/ab/c/C",
    "_GLOBAL_TMP_DIR": "/private/tmp",
    "_NIX_BUILD_TOP": "/private/tmp/nix-build",
    "_ALLOW_LOCAL_NETWORKING": "1",
}

QUESTIONS = (
    ("file-read-data", "/Users/me/proj/src/a.py"),
    ("file-read-metadata", "/"),
    ("file-write-create", "/private/tmp/x"),
    ("file-write-unlink", "/Users/me/.ssh/id_ed25519"),
    ("process-exec*", "/bin/ls"),
    ("network-outbound", "remote tcp 1.1.1.1:443"),
    ("network-outbound", "unix /private/var/run/docker.sock"),
    ("network-bind", "local tcp 127.0.0.1:3000"),
    ("mach-lookup", "com.apple.logd"),
    ("sysctl-read", "hw.ncpu"),
    ("ipc-posix-shm-read-data", "apple.shm.notification_center"),
    ("signal", "others"),
    ("process-info-pidinfo", "self"),
    ("iokit-open-user-client", "RootDomainUserClient"),
)


def _assembled() -> list[Path]:
    folder = shared_folder()
    return sorted((folder / "corpora" / "sbpl" / "assembled").glob("*")) if folder else []


@pytest.mark.parametrize("path", _assembled(), ids=lambda path: path.name)
def test_it_loads_and_answers(path: Path) -> None:
    profile = load(path, PARAMS)
    for operation, target in QUESTIONS:
        answer = decide(profile, operation, target, {"vnode-type": "REGULAR-FILE"})
        assert answer.rule is None or answer.operation in answer.rule.operations


def test_there_are_profiles() -> None:
    shared("corpora", "sbpl", "assembled")
    assert len(_assembled()) > 60


BROKEN = {
    "invalid-profile.sb": ("SBX440", 6, 1),  # `(debug deny` is never closed
    "partial-errors.sb": ("SBX440", 11, 1),  # a `)` is missing
    "unknown_char.sb": ("SBX441", 2, 1),  # `@invalid`
    "unterminated_string.sb": ("SBX440", 2, 32),
    "complex.sb": ("SBX440", 3, 1),  # `#|`: a comment for its own parser, none of SBPL's
    "valid-profile.sb": ("SBX448", 6, 9),  # it imports `system.sb`, and no folder is given
}


@pytest.mark.parametrize("name", BROKEN)
def test_it_is_refused_at_its_place(name: str) -> None:
    path = shared("corpora", "sbpl", f"g-cqd__sbpl-toolchain__{name}")
    with pytest.raises(Failed) as failed:
        load(path)
    (one,) = failed.value.diagnostics
    assert one.span is not None
    assert (one.code, one.span.line, one.span.column) == BROKEN[name]


def test_an_import_is_found_in_the_folder(tmp_path: Path) -> None:
    path = shared("corpora", "sbpl", "g-cqd__sbpl-toolchain__valid-profile.sb")
    (tmp_path / "system.sb").write_text('(version 1)\n(deny file-read-data (literal "/usr/secret"))\n')
    profile = load(path, import_folder=tmp_path)
    answer = decide(profile, "file-read-data", "/usr/secret")
    assert answer.decision == "allow"  # a later rule of the same operation
    assert decide(profile, "file-read-data", "/opt/x").decision == "deny"

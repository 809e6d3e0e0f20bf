"""Faults of other generators of SBPL, each as a test on what is emitted here; the rest with the reason."""

import json
from collections.abc import Callable

import pytest

from sbc.backends.target import Unsayable
from sbc.policy.seatbelt import SbplWord
from tests.shared_data import shared
from tests.targets.policies import TMP, WORKTREE, files, hide, network, policy, read, sbpl, seatbelt, unix, where, write
from tests.targets.sbpl import Query
from tests.targets.test_sbpl_check import codes
from tests.targets.test_sbpl_files import PARAMS, access, emitted, evaluator
from tests.targets.test_sbpl_rest import connects, reaches


def b01() -> None:
    block = seatbelt("deny", sbpl("allow", "file-read-data", where("subpath", "/")))
    assert access(evaluator(policy(files(hide("/opt/x/.env")), block=block)), "/opt/x/.env") == "hide"


def b03() -> None:
    for rules in ((write("/"), read("/opt/x")), (read("/opt/x"), write("/"))):
        assert access(evaluator(policy(files(*rules))), "/opt/x/f") == "read"
        assert access(evaluator(policy(files(*rules))), "/Users/f") == "write"


def b04() -> None:
    run = evaluator(policy(files(hide("~/.ssh"), write("~"))))
    assert access(run, "/Users/u/.ssh/id") == "hide"
    assert access(run, "/Users/u/x") == "write"


def b06() -> None:
    run = evaluator(policy(block=seatbelt("allow")))
    for name in ("file-mount", "job-creation", "appleevent-send", "process-info-pidinfo", "lsopen"):
        assert run.decide(Query(name, "/x", target="others")) == "deny"


def b07() -> None:
    rule = sbpl("allow", "network-outbound", where("remote", SbplWord("tcp"), "api.github.com:443"))
    assert codes(policy(block=seatbelt("deny", rule)))[0].startswith("SBX424")


def b09() -> None:
    for spelled, path in (
        (f"{TMP}/work", "/private/tmp/work"),
        ("/var/x", "/private/var/x"),
        ("/etc/x", "/private/etc/x"),
    ):
        text = emitted(policy(files(write(spelled))))
        assert f'"{path}"' in text
        assert f'"{spelled}"' not in text
    assert '"/System/Volumes/Data/home/u"' in emitted(policy(files(write("/home/u"))))
    assert '"/Users/u"' in emitted(policy(files(write("/System/Volumes/Data/Users/u"))))
    assert '"/private/tmp/u"' in emitted(policy(files(write("/System/Volumes/Data/private/tmp/u"))))


def b10() -> None:
    assert access(evaluator(policy(files(hide("/var/x")))), "/private/var/x/f") == "hide"
    dead = sbpl("deny", "file-read*", where("subpath", "/var/x"))
    assert codes(policy(block=seatbelt("allow", dead)))[0].startswith("SBX425")


def b12() -> None:
    assert access(evaluator(policy(files(hide(f"/{TMP}/./secret/")))), "/private/tmp/secret/f") == "hide"
    b13()


def b13() -> None:
    with pytest.raises(Unsayable):
        emitted(policy(files(write(f"{TMP}/../etc"))))


def b15() -> None:
    assert access(evaluator(policy(files(hide("/opt/a\\b")))), "/opt/a\\b/c") == "hide"
    assert r'"/opt/a\\b"' in emitted(policy(files(hide("/opt/a\\b"))))


def b16() -> None:
    text = emitted(policy(files(write('/opt/x") (regex ".*'))))
    assert r'(subpath "/opt/x\") (regex \".*")' in text


def b18() -> None:
    run = evaluator(policy(files(hide("/w/project[1]/secret"))))
    assert access(run, "/w/project[1]/secret/f") == "hide"
    assert access(run, "/w/project1/secret/f") == "read"


def b21() -> None:
    text = emitted(policy(files(hide("/Users/first.last/x"), write("~/y"))))
    assert text.count("regex") == 0


def b22() -> None:
    run = evaluator(policy(files(write(f"{TMP}/gstp-abc"))))
    assert access(run, "/private/tmp/gstp-abc/x") == "write"
    assert access(run, "/private/tmp/gstp-abcdef/x") == "read"


def b24() -> None:
    run = evaluator(policy(files(hide("/Users"), write("${worktree}")), params=(WORKTREE,)))
    for name in ("file-write-unlink", "file-write-create"):
        assert run.decide(Query(name, f"{PARAMS['worktree']}/f")) == "allow"
    assert access(run, "/Users/u/x") == "hide"


def b25() -> None:
    run = evaluator(policy(files(hide("/"), read("/opt"))))
    assert run.decide(Query("file-read-data", "/")) == "allow"


def b27() -> None:
    text = emitted(policy(net=network("none")))
    assert "local ip" not in text
    run = evaluator(policy(net=network("none")))
    assert not connects(run, "1.1.1.1:443")


def b28() -> None:
    run = evaluator(policy(files(hide("/var/run/docker.sock")), network("host")))
    assert not reaches(run, "/private/var/run/docker.sock")
    assert connects(run, "1.1.1.1:443")
    assert not reaches(evaluator(policy(net=network("host", unix("/opt/s")))), "/private/var/run/docker.sock")


def b30() -> None:
    text = emitted(policy())
    closed = "(deny dynamic-code-generation file-map-executable iokit-get-properties nvram* process-info*)"
    assert text.index(closed) < text.index("(allow ")


def b31() -> None:
    run = evaluator(policy(files(hide("/opt/.env.d"), read("/opt/.env.d/ok"))))
    assert access(run, "/opt/.env.d/other") == "hide"


def b33() -> None:
    text = emitted(policy(files(write("/opt"), *(hide(f"/opt/a/b/{n}") for n in range(400)))))
    assert text.count('(literal "/opt/a")') == 1
    assert len(text) < 64_000


def b34() -> None:
    run = evaluator(policy(files(read("/opt/venv/bin/python"), root="private")))
    for hop in ("/opt", "/opt/venv", "/opt/venv/bin"):
        assert run.decide(Query("file-read-metadata", hop)) == "allow"
        assert run.decide(Query("file-read-data", hop)) == "deny"


def b36() -> None:
    run = evaluator(policy(files(read("/opt/tool"), root="private")))
    needed = ("/", "/usr/lib/dyld", "/System/Library/CoreServices/SystemVersion.plist", "/private/var/db/dyld/x")
    for path in (*needed, "/System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/x"):
        assert run.decide(Query("file-read-data", path)) == "allow", path


def b37() -> None:
    grant = sbpl("allow", "file-write-create", where("require-all", inner=(where("subpath", "/opt/w"),)))
    run = evaluator(policy(files(write("/opt/w"), read("/opt/w/child")), block=seatbelt("deny", grant)))
    assert access(run, "/opt/w/child/f") == "read"


NOT_OURS = {
    "b19": "there are no globs on paths: `*` in a bare path is refused, in a string it is a star",
}

CASES: dict[str, Callable[[], None]] = {
    name: value for name, value in globals().items() if name[0] == "b" and name[1:].isdigit()
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    CASES[name]()


def test_every_published_case_is_tested_or_has_a_reason() -> None:
    listed = [json.loads(line)["id"] for line in shared("cases", "sbpl-generator.jsonl").read_text().splitlines()]
    assert sorted(listed) == sorted({*CASES, *NOT_OURS})

"""The whole rule: who may run without a sandbox, when, and how often."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sbc_runtime import bypass
from sbc_runtime.errors import SetupFailed
from sbc_runtime.installation import nonce_hash
from sbc_runtime.outcome import Bypass
from tests.shared_data import ROOT
from tests.windows.support import KEY_TEXT, NONCE, NOW, Site, fields, repository, shared_repository, stamp


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "config", shared_repository())


def refused(
    request: bypass.Request,
    site: Site,
    host: bypass.Host | None = None,
    profile: str = "builder",
    tree: str | None = "",
) -> str:
    with pytest.raises(SetupFailed) as told:
        bypass.authorize(request, profile, str(site.tree) if tree == "" else tree, host or site.host)
    assert KEY_TEXT not in str(told.value)
    if told.value.failure.step != "attestation":
        assert told.value.failure.step == "containment_unavailable"
    return told.value.failure.why


def used(site: Site) -> bool:
    return (site.folder / "used-nonces" / nonce_hash(NONCE)).exists()


def test_an_attested_run_of_the_builder_is_accepted_once(site: Site) -> None:
    request = site.request()
    by = bypass.authorize(request, "builder", str(site.tree), site.host)
    assert by == Bypass("run-1", "the administrator", nonce_hash(NONCE), stamp(NOW + 600))
    assert used(site)
    assert "`nonce` was used before" in refused(request, site)
    assert "`nonce` was used before" in refused(site.request(runId="run-2"), site)
    assert bypass.authorize(site.request(nonce="m" * 32), "builder", str(site.tree), site.host).run_id == "run-1"


@pytest.mark.parametrize("platform", ["linux", "darwin", "cygwin", "freebsd14", "Win32", ""])
def test_on_every_other_platform_it_is_refused_whatever_it_is(site: Site, platform: str) -> None:
    def never() -> bool:
        raise AssertionError("it is not asked")

    host = site.host._replace(platform=platform)
    for request in (site.request(never), bypass.Request(b"", never, "/nothing")):
        assert refused(request, site, host) == "sandbox bypass attestation is only supported on Windows"
    assert not used(site)


@pytest.mark.parametrize("profile", ["gate", "agent-check", "Builder", "builder2", "builder ", ""])
def test_no_other_profile_runs(site: Site, profile: str) -> None:
    assert "for the profile `builder` only" in refused(site.request(), site, profile=profile)
    assert not used(site)


OTHERS = {
    "acknowledgedPlatform": None,
    "installationId": "00" * 32,
    "repositoryRootCommit": "00" * 20,
    "repositoryOrigin": "https://example.org/team/tree",
    "repositoryPath": "/",
    "timestamp": stamp(NOW + 61),
    "expiresAt": stamp(NOW),
}


@pytest.mark.parametrize(("field", "value"), [(k, v) for k, v in OTHERS.items() if v is not None])
def test_each_refusal_names_its_field_and_uses_no_nonce(site: Site, field: str, value: str) -> None:
    assert f"`{field}`" in refused(site.request(**{field: value}), site)
    assert not used(site)


def test_the_run_it_is_for(site: Site) -> None:
    assert "`runId`" in refused(site.request()._replace(run_id="run-2"), site)
    request = site.request()._replace(run_id="run-1")
    assert bypass.authorize(request, "builder", str(site.tree), site.host).run_id == "run-1"


def test_another_repository_and_another_host(site: Site, tmp_path: Path) -> None:
    request = site.request()
    other = repository(tmp_path / "tree")
    assert "`repository" in refused(request, site, tree=str(other))
    assert "`repositoryPath`" in refused(request, site, tree=str(tmp_path))
    assert "`repositoryPath`" in refused(request, site, tree=None)
    elsewhere = request._replace(folder=str(tmp_path / "other-config"))
    assert "`installationId`" in refused(elsewhere, site)
    assert not used(site)


@pytest.mark.parametrize("key", [None, "", "short", "a5" * 32])
def test_the_key_is_the_hosts(site: Site, key: str | None) -> None:
    request = site.request()
    environ = {**site.environ, "SBC_ADMIN_KEY": key} if key is not None else {"PATH": os.environ["PATH"]}
    why = refused(request, site, site.host._replace(environ=environ))
    assert "`signature`" in why if key == "a5" * 32 else "`SBC_ADMIN_KEY`" in why
    assert not key or key not in why
    assert not used(site)


def fails() -> bool:
    raise OSError("the sandbox is not there, and this is not for everybody")


@pytest.mark.parametrize("check", [lambda: False, lambda: None, lambda: 1, lambda: "yes", fails])
def test_the_callers_check_has_to_pass_beside_it(site: Site, check: Callable[[], bool]) -> None:
    why = refused(site.request(check), site)
    assert "active-sandbox check" in why
    assert "everybody" not in why
    assert not used(site)


def test_the_callers_check_is_asked_last_and_once(site: Site) -> None:
    asked: list[bool] = []

    def check() -> bool:
        asked.append(used(site))
        return True

    refused(site.request(check, repositoryOrigin="https://example.org/x"), site)
    assert asked == []
    bypass.authorize(site.request(check), "builder", str(site.tree), site.host)
    assert asked == [False]


def test_one_that_expires_while_it_is_checked_is_refused(site: Site) -> None:
    def clock() -> Iterator[float]:
        yield NOW
        yield NOW + 600

    times = clock()
    assert "`expiresAt` has passed" in refused(site.request(), site, site.host._replace(now=lambda: next(times)))
    assert not used(site)


def test_a_clock_that_is_set_back_brings_no_nonce_back(site: Site) -> None:
    request = site.request()
    bypass.authorize(request, "builder", str(site.tree), site.host)
    later = site.host._replace(now=lambda: NOW + 400 * 86400)
    assert "`expiresAt`" in refused(request, site, later)
    bypass.authorize(
        site.request(nonce="m" * 32, timestamp=stamp(NOW + 400 * 86400), expiresAt=stamp(NOW + 400 * 86400 + 9)),
        "builder",
        str(site.tree),
        later,
    )
    assert "`nonce` was used before" in refused(request, site)


_RUN = """
import os, sys
from sbc_runtime import bypass
from sbc_runtime.errors import SetupFailed
folder, tree, now = sys.argv[1:4]
documents = [open(name, "rb").read() for name in sys.argv[4:]]
host = bypass.Host("win32", lambda: float(now))
print("ready", flush=True)
sys.stdin.readline()
for document in documents:
    try:
        bypass.authorize(bypass.Request(document, lambda: True, folder), "builder", tree, host)
        print("passed")
    except SetupFailed as failed:
        print(failed.failure.why)
"""


def test_of_two_processes_with_one_attestation_one_passes(site: Site, tmp_path: Path) -> None:
    files: list[str] = []
    for number in range(12):
        file = tmp_path / f"{number}.json"
        file.write_bytes(site.attested(nonce=f"{number:032}"))
        files.append(str(file))
    environ = {**site.environ, "PYTHONPATH": str(ROOT / "runtime")}
    command = [sys.executable, "-S", "-c", _RUN, str(site.folder), str(site.tree), str(NOW), *files]
    pair = [
        subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for one in pair:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in pair:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    first, second = (one.communicate()[0].splitlines() for one in pair)
    assert len(first) == len(second) == len(files)
    for answers in zip(first, second, strict=True):
        assert sorted(answers, key=len)[0] == "passed"
        assert "`nonce` was used before" in sorted(answers, key=len)[1]


def test_place_is_what_an_administrator_signs(site: Site) -> None:
    made = site.place()
    assert made.fields().items() <= fields(made).items()
    assert made.path == os.path.realpath(site.tree)

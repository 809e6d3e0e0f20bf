"""What macOS would refuse, or would never match, is refused here with its reason."""

import pytest

from sbc.backends.seatbelt.target import SeatbeltTarget
from sbc.backends.target import Unsayable
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.policy import Policy
from sbc.policy.seatbelt import SbplWord, Seatbelt
from tests.targets.policies import (
    TMP,
    WORKTREE,
    files,
    hide,
    network,
    policy,
    read,
    sbpl,
    seatbelt,
    unix,
    where,
    write,
)
from tests.targets.test_sbpl_files import emitted


def codes(made: Policy) -> list[str]:
    with pytest.raises(Failed) as failed:
        SeatbeltTarget().emit(made)
    return [f"{one.code} {one.title()} | {one.help() or ''}" for one in failed.value.diagnostics]


WRONG = {
    "default": (sbpl("allow", "default"), "SBX428 `allow default` is not how the default is said | write `default all"),
    "operation": (sbpl("allow", "mach-lokup"), "SBX420 unknown operation `mach-lokup` | did you mean `mach-lookup`?"),
    "no effect": (sbpl("allow", "qtn-download"), "SBX421"),
    "filter": (sbpl("allow", "mach-lookup", where("global-nam", "x")), "SBX422 unknown filter `global-nam` | did you"),
    "inner": (sbpl("allow", "file*", where("require-not", inner=(where("subpth", "/x"),))), "SBX422"),
    "misplaced": (sbpl("allow", "file-read*", where("global-name", "x")), "SBX423 `file-read*` does not take"),
    "host name": (
        sbpl("allow", "network-outbound", where("remote", SbplWord("tcp"), "api.github.com:443")),
        "SBX424 wrong argument of `remote`: `api.github.com:443` is not `*` or `localhost`",
    ),
    "address": (sbpl("allow", "network*", where("remote", SbplWord("ip"), "1.2.3.4:443")), "SBX424"),
    "port": (sbpl("allow", "network*", where("local", SbplWord("ip"), "*:70000")), "SBX424"),
    "protocol": (sbpl("allow", "network*", where("local", SbplWord("sctp"), "*:7")), "SBX424"),
    "word": (sbpl("allow", "signal", where("target", "self")), "SBX424"),
    "string": (sbpl("allow", "mach-lookup", where("global-name", SbplWord("x"))), "SBX424"),
    "empty": (sbpl("allow", "mach-lookup", where("global-name")), "SBX424"),
    "two": (
        sbpl("allow", "file*", where("require-not", inner=(where("subpath", "/x"), where("subpath", "/y")))),
        "SBX424 wrong argument of `require-not`: it takes exactly one filter",
    ),
    "no separator": (
        sbpl("allow", "file*", where("require-any", inner=(where("literal", "/x", SbplWord("literal"), "/y"),))),
        "SBX424 wrong argument of `literal`: a `;` or a new line is missing before the filter `literal`",
    ),
    "not a word": (sbpl("allow", "signal", where("target", SbplWord("self) (x"))), "SBX424"),
    "tmp": (
        sbpl("deny", "file-read*", where("subpath", f"{TMP}/x")),
        "SBX425 `/tmp/x` never matches | write `/private/tmp/x`",
    ),
    "dots": (sbpl("deny", "file-read*", where("literal", "/a/../b")), "SBX425"),
    "doubled": (
        sbpl("deny", "file-read*", where("literal", "//tmp/./x/")),
        "SBX425 `//tmp/./x/` never matches | write",
    ),
    "newline": (sbpl("deny", "file-read*", where("literal", "/a\nb")), "SBX426"),
    "nul": (sbpl("deny", "mach-lookup", where("global-name", "a\0b")), "SBX426"),
    "not utf-8": (sbpl("deny", "mach-lookup", where("global-name", "a\udcff")), "SBX426"),
    "long": (sbpl("deny", "mach-lookup", where("global-name", "a" * 1023)), "SBX426"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_macos_would_refuse_or_never_match(name: str) -> None:
    rule, expected = WRONG[name]
    (got,) = codes(policy(block=seatbelt("deny", rule)))
    assert got.startswith(expected)


def test_all_errors_are_told_at_once() -> None:
    block = seatbelt("deny", sbpl("allow", "x"), sbpl("allow", "file*", where("y", "z")))
    assert len(codes(policy(files(read("/a\nb")), block=block))) == 2
    assert len(codes(policy(files(read("/a", "/b")), block=block))) == 2


@pytest.mark.parametrize("text", ["/a\nb", "/a\rb", "/a\udc80", "/" + "a" * 1024, "/a/../b"])
def test_paths_that_cannot_be_said(text: str) -> None:
    for made in (policy(files(hide(text))), policy(net=network("none", unix(text)))):
        with pytest.raises(Unsayable, match="cannot stand in an SBPL profile, it "):
            SeatbeltTarget().emit(made)


def test_two_spellings_of_one_path() -> None:
    (got,) = codes(policy(files(read(TMP), write("/private/tmp"))))
    assert got.startswith("SBX427 `/private/tmp` and `/tmp` are both `/private/tmp` on macOS")
    assert emitted(policy(files(write(TMP), write("/private/tmp")))).count('"/private/tmp"') == 1
    (got,) = codes(policy(files(read("/Users/U/a"), hide("/users/u/A"))))
    assert got.startswith("SBX427 `/users/u/A` and `/Users/U/a` are both `/Users/U/a` on macOS")
    (got,) = codes(policy(files(read("/opt/\u00e9"), hide("/opt/E\u0301"))))
    assert got.startswith("SBX427")
    text = emitted(policy(files(hide("/opt/Key"), hide("/opt/key"))))
    assert '"/opt/Key"' in text
    assert '"/opt/key"' in text
    assert emitted(policy(files(read(TMP, on="linux"), write("/private/tmp"))))


def known(block: Seatbelt) -> str:
    return emitted(policy(block=block, params=(WORKTREE,)))


def test_filters_that_real_profiles_use() -> None:
    rules = (
        sbpl("allow", "process-info*", where("target", SbplWord("same-sandbox"))),
        sbpl("allow", "iokit-open", where("iokit-registry-entry-class", "RootDomainUserClient")),
        sbpl("allow", "iokit-open", where("iokit-user-client-class", "AGXDeviceUserClient")),
        sbpl("allow", "sysctl-read", where("sysctl-name-prefix", "hw.")),
        sbpl("allow", "mach-lookup", where("global-name-regex", "^com\\.apple\\.")),
        sbpl("allow", "system-socket", where("require-all", inner=(where("socket-domain", SbplWord("AF_SYSTEM")),))),
        sbpl("allow", "file-ioctl", where("literal", "/dev/ptmx")),
        sbpl("allow", "network-outbound", where("remote", SbplWord("unix-socket"))),
        sbpl("allow", "user-preference-read", where("preference-domain", "kCFPreferencesAnyApplication")),
        sbpl("allow", "process-exec", where("literal", "/bin/ls")),
        sbpl("allow", "file-read*", where("vnode-type", SbplWord("DIRECTORY"))),
        sbpl("allow", "file-read*", where("file-mode", 0o111)),
    )
    text = known(seatbelt("deny", *rules))
    assert '(allow sysctl-read (sysctl-name-prefix "hw."))' in text
    assert '(allow mach-lookup (global-name-regex "^com\\\\.apple\\\\."))' in text

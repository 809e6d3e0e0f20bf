"""Outcomes and facts for tests of what is made of them."""

from sbc_runtime.contents import Bundle, Bwrap, Coverage, Sbpl
from sbc_runtime.environment_digest import Facts
from sbc_runtime.outcome import (
    Absent,
    Isolation,
    LimitReport,
    Outcome,
    Protections,
    Replaced,
    RunLoss,
    Stream,
    Timings,
    Usage,
)
from sbc_runtime.plan import Environment, Network, Path, PathRule, Plan, Statement

DIGEST = "sha256:" + "a" * 64
LOSS = RunLoss("wider", "a.sbx:7", "write ${t} noexec", "cannot")
PARAMS: dict[str, str | int] = {"t": "/trees/one", "sdk": "/opt/sdk-1"}
ENVIRONMENT = (("PATH", "/usr/bin"), ("LANG", "C"))


def statement(line: int, text: str) -> Statement:
    return Statement("files", "a.sbx", line, text, "")


def rule(access: str, path: Path, line: int, identity: str | None = None) -> PathRule:
    said = statement(line, f"{access} {path}")
    return PathRule(access, path, None, True, False, identity, None, said)  # pyright: ignore[reportArgumentType]


RULES = (
    rule("read", Path(None, "/usr"), 1),
    rule("read", Path("sdk", ""), 2),
    rule("read", Path(None, "/opt/tools"), 3, "tools 5"),
    rule("write", Path("t", ""), 4),
    rule("read", Path("t", "/.git"), 5),
    rule("read", Path("t", "/node_modules"), 6),
    rule("hide", Path("t", "/secret"), 7),
)


def bundle(rules: tuple[PathRule, ...] = RULES) -> Bundle:
    network = Network("none", False, (), statement(8, "network none"))
    plan = Plan((), rules, (), (), (), (), network, Environment((), ()), (), ())
    return Bundle("p", "1", (), (), None, Sbpl(None, "-"), Bwrap(None, "-"), plan, (), Coverage((), ()), "", ())


def outcome() -> Outcome:
    isolation = Isolation(
        "namespace",
        "namespaces",
        verified=True,
        protections=Protections(*[True] * 15, landlock=None),
        filter_bytes=None,
        contradictions=(),
        host_root=False,
        network="none",
        proc_masked=("sys",),
        proc_absent=("kcore",),
    )
    return Outcome(
        kind="exited",
        by="command",
        code=4,
        status=4,
        signal=None,
        stdout=Stream(b"out", 3, False),
        stderr=Stream(b"", 0, False),
        isolation=isolation,
        failure=None,
        run_id="0123",
        profile="p",
        bundle=DIGEST,
        enforcement=DIGEST,
        usage=Usage(10, 4096, 2),
        limits=(LimitReport("wall", 1500, ("timer",)), LimitReport("memory", 1 << 20, ("sampled", "rlimit"), "note")),
        absent=(Absent("a.sbx:6", "read", "/trees/one/node_modules", True, False),),
        losses=(LOSS,),
        covered=("/run",),
        notes=("a note",),
        timings=Timings(1.5, 2.0, 0.25, 3.75),
        environment=("PATH", "LANG"),
        cgroup=None,
        replaced=(Replaced("a.sbx:5", "read", "/trees/one/.git", "/trees/one/.git"),),
    )


FACTS = Facts(
    enforcement=DIGEST,
    backend="namespace",
    system="Linux",
    machine="x86_64",
    verified=True,
    host_root=False,
    protections=Protections(*[True] * 15, landlock=None),
    cgroup=False,
    limits=(("wall", 1500), ("memory", 1 << 20)),
    network="none",
    environment=ENVIRONMENT,
    read_only=("/usr", "/opt/sdk-1", "identity tools 5", "${t}/.git"),
    losses=(LOSS,),
    absent=("${t}/node_modules",),
)

"""A policy made by hand, with something in every block, and bundles of it."""

from sbc.backends.bpf.target import BpfTarget
from sbc.backends.bundle.assemble import Parts, bundle
from sbc.backends.coverage import Cell, Coverage, Row, State
from sbc.backends.target import Artifact, Loss, OutputFile
from sbc.diagnostics.span import Source, Span
from sbc.kernel.numbers import numbers
from sbc.policy.conditions import ALWAYS, AnyOf, Condition, Masked, Not
from sbc.policy.filesystem import DevicesKind, Files, PathRule, ProcRule, RootKind, StartIn, Tmp
from sbc.policy.network import LocalPort, Network, UnixSocket
from sbc.policy.origin import Block, Origin, System
from sbc.policy.policy import Override, Policy, SourceFile
from sbc.policy.process import Environment, IdentityValue, IdRange, Limit, Pattern, SetVariable
from sbc.policy.seatbelt import SbplDefault, Seatbelt
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule, Syscalls
from sbc.policy.values import Param, ParamValue, PathValue
from sbc_runtime.action import ALLOW, KILL_PROCESS, Verdict, errno_verdict
from sbc_runtime.arch import ARCHES
from sbc_runtime.contents import Bundle

TEXT = """\
sbx 1
profile sample {
  param workdir : dir
  param budget : size = 2GiB
  param label : text = "sandbox"
  syscalls {
    abi x86_64 + i386, aarch64
    foreign-abi kill-process
    default allow
    deny EPERM { ptrace kcmp }
    on x86_64 { deny EPERM { iopl modify_ldt } }
    deny ENOSYS clone3
    deny EAFNOSUPPORT socket unless family in { AF_UNIX AF_INET }
    deny EPERM clone when flags has any @new-namespaces
  }
  files {
    root private
    read { /usr /lib } optional
    read /opt/tools identity "tools 1"
    write ${workdir} as /work
    hide ${workdir}/.git optional
    on macos { write /private/tmp }
    tmp /tmp size 512MiB inodes 65536 noexec
    devices minimal
    start-in /work
  }
  proc { read-only sys; hide kcore }
  network host { connect localhost:8080; unix /run/db.sock }
  environment { keep LC_*; drop *TOKEN*; set PATH = "/usr/bin:/bin"; set LABEL = ${label} }
  identity { user 1000; host-user 60000..60099; hostname ${label} }
  limits { wall 10min; memory ${budget}; processes 256; core-size 0 }
}
"""
SOURCE = Source("sample.sbx", TEXT)

NEW_NAMESPACES = 0x7E020000


def origin(block: Block, text: str, reason: str = "", on: System | None = None) -> Origin:
    """The origin of a statement of the sample."""
    start = TEXT.index(text)
    return Origin(block, text, Span(SOURCE, start, start + len(text)), reason, on)


def rules(abi: str, calls: str, verdict: Verdict, at: Origin, condition: Condition = ALWAYS) -> tuple[Rule, ...]:
    """One rule for each call that an ABI has."""
    known = numbers(abi)
    return tuple(Rule(known[call], call, verdict, at, condition) for call in calls.split() if call in known)


def abi_rules(abi: str) -> AbiRules:
    """The sample's rules for one ABI."""
    eperm = errno_verdict(1)
    made = rules(abi, "ptrace kcmp", eperm, origin("syscalls", "deny EPERM { ptrace kcmp }", "Cross-process memory."))
    if abi == "x86_64":
        at = origin("syscalls", "deny EPERM { iopl modify_ldt }", "Old\nports | and `segments`.")
        made += rules(abi, "iopl modify_ldt", eperm, at)
    made += rules(
        abi, "clone3", errno_verdict(38), origin("syscalls", "deny ENOSYS clone3", "Its flags are in memory.")
    )
    families = Not(AnyOf((Masked(0, 32, 0xFFFFFFFF, 1), Masked(0, 32, 0xFFFFFFFF, 2))))
    at = origin("syscalls", "deny EAFNOSUPPORT socket unless family in { AF_UNIX AF_INET }")
    made += rules(abi, "socket", errno_verdict(97), at, families)
    at = origin("syscalls", "deny EPERM clone when flags has any @new-namespaces", "No nested namespaces.")
    width = ARCHES[abi].word
    made += rules(abi, "clone", eperm, at, Not(Masked(0, width, NEW_NAMESPACES, 0)))
    return AbiRules(ARCHES[abi], made, ALLOW, origin("syscalls", "default allow"))


def syscalls() -> Syscalls:
    """Two filters: one for two joined ABIs, one for one."""
    foreign = origin("syscalls", "foreign-abi kill-process")
    return Syscalls(
        (
            FilterPolicy((abi_rules("x86_64"), abi_rules("i386")), KILL_PROCESS, foreign),
            FilterPolicy((abi_rules("aarch64"),), KILL_PROCESS, foreign),
        ),
        origin("syscalls", "syscalls"),
    )


def files() -> Files:
    """Paths of every kind."""
    system = origin("files", "read { /usr /lib } optional", "The system's programs.")
    work = PathValue("workdir", "")
    return Files(
        roots=(RootKind("private", origin("files", "root private")),),
        rules=(
            PathRule(
                "hide", PathValue("workdir", "/.git"), origin("files", "hide ${workdir}/.git optional"), None, True
            ),
            PathRule("write", work, origin("files", "write ${workdir} as /work"), PathValue(None, "/work")),
            PathRule("read", PathValue(None, "/usr"), system, optional=True),
            PathRule("read", PathValue(None, "/lib"), system, optional=True),
            PathRule(
                "read",
                PathValue(None, "/opt/tools"),
                origin("files", 'read /opt/tools identity "tools 1"'),
                identity="tools 1",
            ),
            PathRule(
                "write", PathValue(None, "/private/tmp"), origin("files", "write /private/tmp", on="macos"), noexec=True
            ),
        ),
        tmps=(
            Tmp(
                PathValue(None, "/tmp"),
                512 << 20,
                65536,
                origin("files", "tmp /tmp size 512MiB inodes 65536 noexec"),
                noexec=True,
            ),
        ),
        devices=(DevicesKind("minimal", origin("files", "devices minimal")),),
        start_in=(StartIn(PathValue(None, "/work"), origin("files", "start-in /work")),),
        origin=origin("files", "files"),
    )


def policy() -> Policy:
    """The whole sample."""
    network = origin("network", "network host")
    keep, drop = origin("environment", "keep LC_*"), origin("environment", "drop *TOKEN*", "Secrets.")
    return Policy(
        name="sample",
        reason="Shows one of everything.",
        params=(
            Param("workdir", "dir"),
            Param("budget", "size", 2 << 30),
            Param("label", "text", "sandbox"),
        ),
        syscalls=syscalls(),
        files=files(),
        proc=(
            ProcRule("read-only", "sys", origin("proc", "read-only sys")),
            ProcRule("hide", "kcore", origin("proc", "hide kcore", "The kernel's memory.")),
        ),
        network=Network(
            "host",
            (
                LocalPort("connect", 8080, origin("network", "connect localhost:8080")),
                UnixSocket(PathValue(None, "/run/db.sock"), origin("network", "unix /run/db.sock")),
            ),
            network,
            listed=True,
        ),
        environment=Environment(
            (Pattern("keep", "LC_*", keep), Pattern("drop", "*TOKEN*", drop)),
            (
                SetVariable("PATH", "/usr/bin:/bin", origin("environment", 'set PATH = "/usr/bin:/bin"')),
                SetVariable("LABEL", ParamValue("label"), origin("environment", "set LABEL = ${label}")),
            ),
        ),
        identity=(
            IdentityValue("user", 1000, origin("identity", "user 1000")),
            IdentityValue("host-user", IdRange(60000, 60099), origin("identity", "host-user 60000..60099")),
            IdentityValue("hostname", ParamValue("label"), origin("identity", "hostname ${label}")),
        ),
        limits=(
            Limit("wall", 600_000, origin("limits", "wall 10min")),
            Limit("memory", ParamValue("budget"), origin("limits", "memory ${budget}")),
            Limit("processes", 256, origin("limits", "processes 256")),
            Limit("core-size", 0, origin("limits", "core-size 0")),
        ),
        seatbelt=Seatbelt(
            SbplDefault("deny", Origin("seatbelt", "no seatbelt block")), (), Origin("seatbelt", "no seatbelt block")
        ),
        sources=(SourceFile("sample.sbx", "ab" * 32), SourceFile("<groups>", "cd" * 32)),
        overrides=(Override(origin("files", "start-in /work"), origin("files", "root private")),),
    )


def whole_coverage(of: Policy) -> Coverage:
    """The table with a row for every statement, as a bundle has it."""
    short = coverage()
    told = {row.origin for row in short.rows}
    files, environment = of.files, of.environment
    entries = (
        *(*files.roots, *files.rules, *files.tmps, *files.devices, *files.start_in, *of.proc, of.network),
        *(*of.network.allowances, *environment.patterns, *environment.variables, *of.identity, *of.limits),
    )
    others = dict.fromkeys(entry.origin for entry in entries if entry.origin not in told)
    return Coverage(short.targets, (*short.rows, *(Row(at, (Cell("not applicable"),) * 3) for at in others)))


def coverage() -> Coverage:
    """A table of three statements and three targets."""
    table: tuple[tuple[Origin, tuple[State, ...]], ...] = (
        (origin("syscalls", "deny ENOSYS clone3"), ("enforced", "not applicable", "enforced")),
        (origin("files", "tmp /tmp size 512MiB inodes 65536 noexec"), ("not applicable", "narrower", "wider")),
        (origin("files", "write /private/tmp", on="macos"), ("not applicable", "enforced", "not applicable")),
    )
    rows = (Row(at, tuple(Cell(state) for state in states)) for at, states in table)
    return Coverage(("bpf", "sbpl", "bwrap"), tuple(rows))


def parts(of: Policy) -> Parts:
    """What the other targets make of it, as far as tests need."""
    lost = origin("files", "tmp /tmp size 512MiB inodes 65536 noexec")
    arguments = "\0".join(["--unshare-user", "--ro-bind", "/usr", "/usr", ""])
    return Parts(
        bpf=BpfTarget().emit(of),
        sbpl="has no words for `as` (sample.sbx:20)",
        bwrap=Artifact(
            (OutputFile("sample.bwrap", arguments.encode()),),
            (Loss("bwrap", "wider", lost, "no budget of inodes"),),
            ("a note",),
        ),
        coverage=whole_coverage(of),
        docs="# sample\n",
        compiler="0.1.0",
    )


def made() -> Bundle:
    """The sample's bundle."""
    of = policy()
    return bundle(of, parts(of))

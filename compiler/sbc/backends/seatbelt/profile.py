"""The whole profile: the default, the base, the block, and then what the other blocks derive."""

from collections.abc import Iterable, Iterator

from sbc.backends.seatbelt import base, block, devices, files, network, processes
from sbc.backends.seatbelt.areas import areas_of, on_macos
from sbc.backends.seatbelt.check import check
from sbc.backends.seatbelt.families import NEWER_TASKS, OUTSIDE_ACTORS, SHARED_MEMORY
from sbc.backends.seatbelt.operations import canonical
from sbc.backends.seatbelt.paths import NAME, sayable
from sbc.backends.seatbelt.rules import Author, Ledger, SbRule
from sbc.backends.seatbelt.sexpr import Node, Text, Word, comment, form, rule_text, written
from sbc.backends.target import Loss, Unread
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.network import LocalPort, UnixSocket
from sbc.policy.policy import Policy
from sbc.policy.seatbelt import SbplRule
from sbc.record import Record, replaced


class Profile(Record):
    """A profile's text, and what it does not enforce as written."""

    text: str
    losses: tuple[Loss, ...]
    notes: tuple[str, ...]
    unread: tuple[Unread, ...]


class _Writer:
    """Collects the lines; every rule goes through the ledger on its way."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.lines: list[str] = []

    def title(self, text: str) -> None:
        """Begin a part."""
        self.lines += ["", comment(f"--- {text}")]

    def node(self, node: Node) -> None:
        """Write a form that is no rule."""
        self.lines.append(written(node))

    def rules(self, rules: Iterable[SbRule], author: Author) -> None:
        """Write rules, each with the concrete operations that it must name."""
        for rule in rules:
            self._noted(rule.note, self.ledger.completed(rule, author))

    def exactly(self, rules: Iterable[SbRule], author: Author) -> None:
        """Write rules that name all that they must."""
        for rule in rules:
            self.ledger.record(rule, author)
            self._noted(rule.note, (rule,))

    def _noted(self, note: str, rules: tuple[SbRule, ...]) -> None:
        self.lines += [comment(line) for line in note.split("\n") if line]
        self.lines += [rule_text(rule.action, rule.operations, rule.filters) for rule in rules]


def profile(policy: Policy) -> Profile:
    """Emit the policy; `Unsayable` where it cannot be said, `Failed` where it is wrong on macOS."""
    if errors := tuple(check(policy.seatbelt)):
        raise Failed(errors)
    areas, lost, wrong = areas_of(policy)
    allowances = tuple(_allowances(policy))
    if wrong:
        raise Failed(wrong)

    seatbelt = policy.seatbelt
    statements = block.statements(seatbelt)
    users = tuple(one for one in statements if isinstance(one, SbplRule))
    default_deny = seatbelt.default.action == "deny"
    out = _Writer()
    out.lines += [comment(f"{policy.name}: made from its policy by sbc; parameters are given with -D")]
    out.node(form("version", 1))
    out.lines.append(comment(f"{seatbelt.default.origin.where()}: {seatbelt.default.origin.text}"))
    out.node(form(seatbelt.default.action, Word("default")))
    if default_deny:
        out.title("macos-base")
        asked = (network.services(),) if network.open_to_all(policy.network) else ()
        below = base.services(users, asked)
    else:
        out.title("programs outside are not asked to act")
        below = tuple(_closed_actors(users))
    out.exactly(below, "base")
    if statements:
        out.title("seatbelt")
    out.exactly(block.lifted(users, below), "user")
    for one in statements:
        if isinstance(one, SbplRule):
            out.exactly((block.as_rule(one),), "user")
        else:
            out.lines.append(comment(f"{one.origin.where()}: {one.origin.text}"))
            out.node(form("import", Text(one.path)))
            out.ledger.record_import()
    out.title("process")
    out.rules(processes.rules(), "derived")
    for name in NEWER_TASKS:
        out.node(form("when", form("defined?", Word(f"'{name}")), form("deny", Word(name))))
    out.rules(_shared_memory(), "derived")
    out.title("files")
    by_path = network.open_to_all(policy.network)
    out.rules(files.rules(areas, _devices(policy), by_path), "derived")
    out.title("network")
    out.rules(network.rules(policy.network, allowances, default_deny, out.ledger), "derived")
    again = tuple(block.repeated(users, out.ledger))
    if again:
        out.title("seatbelt: denies that the rules above would undo")
        out.exactly(again, "derived")
    losses = (*lost, *_losses(policy, users), *block.losses(users, not by_path, out.ledger))
    return Profile("\n".join(out.lines) + "\n", losses, tuple(_notes(policy)), tuple(block.unread(statements)))


def _allowances(policy: Policy) -> Iterator[LocalPort | UnixSocket]:
    """Give the network's list with resolved paths."""
    for one in policy.network.allowances:
        if one.origin.on != "linux":
            yield one if isinstance(one, LocalPort) else replaced(one, path=sayable(one.path, one.origin))


def _closed_actors(users: tuple[SbplRule, ...]) -> Iterator[SbRule]:
    named = {canonical(name) for rule in users for name in rule.operations}
    closed = tuple(name for name in OUTSIDE_ACTORS if name not in named)
    if closed:
        yield SbRule("deny", closed)


def _devices(policy: Policy) -> tuple[devices.Placed, ...]:
    stated = on_macos(policy.files.devices)
    if not stated:
        return devices.rules("minimal", "devices minimal (no statement)")
    return devices.rules(stated[-1].kind, f"{stated[-1].origin.where()}: {stated[-1].origin.text}")


def _shared_memory() -> Iterator[SbRule]:
    """Close POSIX shared memory, which every process of the host shares, except for pages that are only read."""
    page = form("ipc-posix-name", Text("apple.shm.notification_center"))
    settings = form("ipc-posix-name-prefix", Text("apple.cfprefs."))
    yield SbRule("deny", SHARED_MEMORY, (page, form("require-not", page)), note="shared memory is the host's")
    yield SbRule("allow", ("ipc-posix-shm-read-data",), (page, settings))


def _losses(policy: Policy, users: tuple[SbplRule, ...]) -> Iterator[Loss]:
    for stated in on_macos(policy.files.devices)[-1:]:
        if stated.kind != "none":
            why = "POSIX shared memory cannot be private on macOS, so there is none"
            yield Loss(NAME, "narrower", stated.origin, why)
        if stated.kind in ("standard", "host"):
            why = "on a terminal that it inherits the command can type for others (TIOCSTI), unless that is its own"
            yield Loss(NAME, "wider", stated.origin, why, deferred=True)
    default = policy.seatbelt.default
    if default.action == "allow":
        for rule in _closed_actors(users):
            why = f"{', '.join(f'`{name}`' for name in rule.operations)} stay closed: they make programs outside act"
            yield Loss(NAME, "narrower", default.origin, why)


def _notes(policy: Policy) -> Iterator[str]:
    yield "sbpl: made by the published rules of SBPL; nothing here has run on a Mac"
    if policy.seatbelt.default.action == "allow":
        yield (
            "sbpl: `default allow` leaves Mach services, IOKit, preferences and more open: "
            "a service outside the sandbox can act for the command"
        )
    for one in block.statements(policy.seatbelt):
        if not isinstance(one, SbplRule):
            yield f"sbpl: nobody has read `{one.path}` here; what other blocks say stands above it"

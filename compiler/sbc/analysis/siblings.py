"""A denied call whose work another call, left open, does too."""

from collections.abc import Iterator

from sbc.analysis.calls import RUNS, Calls
from sbc.analysis.subject import Subject
from sbc.analysis.words import is_enosys
from sbc.diagnostics.catalogue.lints import SiblingOpen
from sbc.diagnostics.span import Span
from sbc.kernel.siblings import Sibling, siblings
from sbc.kernel.signature import signature
from sbc.policy.conditions import ALWAYS
from sbc.policy.syscalls import Rule

ANY_AGE = frozenset(
    (
        *("mount", "umount", "umount2", "move_mount", "fsmount", "open_tree", "fsopen", "fsconfig", "fspick"),
        *("init_module", "finit_module", "kexec_load", "kexec_file_load", "unshare"),
        *("settimeofday", "clock_settime", "clock_settime64", "clock_adjtime", "clock_adjtime64", "adjtimex", "stime"),
    )
)
"""Calls that nobody denies but to stop what they do: an older sibling left open is a mistake here too."""

_Found = dict[Span, tuple[Rule, dict[str, Sibling]]]


def check(subject: Subject) -> Iterator[SiblingOpen]:
    """Report each rule of the profile's author once, with every sibling that is open on some ABI.

    Asked of is every newer sibling that is carried out whatever its arguments: an author could not know it, or forgot.
    An older one was there to be seen, and is left open on purpose (`deny openat2`, whose flags no filter can read), but
    for the calls of `ANY_AGE`. A sibling on which the profile has a rule with a condition was thought of.
    """
    found: _Found = {}
    for calls in subject.calls():
        for rule in calls.abi.rules:
            if rule.verdict.action not in RUNS and rule.origin.span is not None and subject.written(rule.origin):
                _look(calls, rule, rule.origin.span, found)
    for span, (rule, open_calls) in found.items():
        listed = sorted(open_calls.values(), key=lambda sibling: (_order(sibling.since), sibling.call))
        yield SiblingOpen(span, rule.call, tuple((sibling.call, sibling.since) for sibling in listed))


def _look(calls: Calls, rule: Rule, span: Span, found: _Found) -> None:
    others = [sibling for sibling in siblings().get(rule.call, ()) if calls.always_runs(sibling.call)]
    if not others or calls.always_runs(rule.call):
        return
    own = _order(_since(rule.call))
    any_age = rule.call in ANY_AGE and not is_enosys(rule.verdict, calls.abi.arch.name)
    for sibling in others:
        if (any_age or _order(sibling.since) > own) and _can_do(calls, rule, sibling.call):
            found.setdefault(span, (rule, {}))[1].setdefault(sibling.call, sibling)


def _can_do(calls: Calls, rule: Rule, sibling: str) -> bool:
    """Tell whether a sibling can do what the rule denies: one without arguments (`vfork`) can take no flags."""
    if rule.condition == ALWAYS:
        return True
    known = signature(calls.abi.arch.name, sibling)
    return known is None or bool(known.args)


def _since(call: str) -> str | None:
    """Give the kernel that brought a call which has siblings: their entries say so."""
    other = siblings()[call][0].call
    return next((sibling.since for sibling in siblings().get(other, ()) if sibling.call == call), None)


def _order(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")) if version else ()

"""C libraries fall back from `clone3` to `clone` on ENOSYS alone."""

from collections.abc import Iterator

from sbc.analysis.calls import RUNS, Calls
from sbc.analysis.subject import Subject
from sbc.analysis.words import is_enosys, verdict_text
from sbc.diagnostics.catalogue.lints import Clone3WithoutFallback
from sbc.policy.conditions import ALWAYS


def check(subject: Subject) -> Iterator[Clone3WithoutFallback]:
    """Report answers to `clone3` that end a program which `clone` would let go on.

    Where no arguments of `clone` are allowed, no thread is meant to start, and any answer will do.
    """
    for calls in subject.calls():
        if calls.number("clone3") is None or not calls.runs("clone"):
            continue
        yield from _of_abi(subject, calls)


def _of_abi(subject: Subject, calls: Calls) -> Iterator[Clone3WithoutFallback]:
    name = calls.abi.arch.name
    for rule in calls.rules("clone3"):
        if rule.verdict.action not in RUNS and not is_enosys(rule.verdict, name) and subject.written(rule.origin):
            yield Clone3WithoutFallback(rule.origin.span, verdict_text(rule.verdict, name), by_default=False)
        if rule.condition == ALWAYS:
            return
    verdict = calls.fallback(calls.number("clone3") or 0)
    if verdict.action not in RUNS and not is_enosys(verdict, name):
        yield Clone3WithoutFallback(calls.abi.default_origin.span, verdict_text(verdict, name), by_default=True)

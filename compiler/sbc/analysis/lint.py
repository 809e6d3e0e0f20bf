"""Runs every check on a policy."""

from sbc.analysis.registry import CHECKS
from sbc.analysis.subject import Subject
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.policy import Policy
from sbc.resolve.modules import Modules
from sbc.resolve.texts import rule_texts


def lint(policy: Policy, modules: Modules, reporter: Reporter) -> None:
    """Report everything that the checks find: errors, lints and notes."""
    subject = Subject(policy, rule_texts(modules))
    for check in CHECKS:
        for found in check(subject):
            reporter.add(found)

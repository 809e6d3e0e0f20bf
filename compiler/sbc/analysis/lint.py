"""Runs every check on a policy."""

from sbc.analysis.registry import CHECKS, ERRORS
from sbc.analysis.subject import Subject
from sbc.diagnostics.diagnostic import Reporter, Severity
from sbc.policy.policy import Policy
from sbc.resolve.modules import Modules
from sbc.resolve.texts import rule_texts


def lint(policy: Policy, modules: Modules, reporter: Reporter) -> None:
    """Report everything that the checks find: errors, lints and notes; of the file's other profiles the errors."""
    texts = rule_texts(modules)
    subject = Subject(policy, texts)
    for check in CHECKS:
        for found in check(subject):
            reporter.add(found)
    others, modules.others = modules.others, []
    for other in others:
        subject = Subject(other, texts)
        for check in ERRORS:
            for found in check(subject):
                if found.severity is Severity.ERROR:
                    reporter.add(found)

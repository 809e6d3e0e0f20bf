"""Which verdicts are a yes."""

from sbc_runtime.action import Action

PASSING = frozenset({Action.ALLOW, Action.LOG})
"""Actions under which the kernel carries the call out."""

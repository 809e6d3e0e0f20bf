"""Verdicts: a verb and its value, as one ABI's kernel takes them."""

from sbc.diagnostics.catalogue import names, verdicts
from sbc.diagnostics.diagnostic import Reporter
from sbc.kernel import constants
from sbc.syntax import tree
from sbc_runtime.action import MAX_ERRNO, Action, Verdict

_ACTIONS = {action.word: action for action in Action}
_MAX_DATA = 0xFFFF


def verdict_of(word: tree.VerdictWord, abi: str, reporter: Reporter) -> Verdict:
    """Give the verdict under `abi`; tells what is wrong, and gives one of the same action then."""
    if word.verb == "deny":
        return Verdict(Action.ERRNO, _errno(word, abi, reporter))
    action = _ACTIONS[word.verb]
    if word.verb == "trace" and isinstance(word.value, tree.Number):
        value = word.value.value
        if not 0 <= value <= _MAX_DATA:
            reporter.add(verdicts.TraceRange(word.value.span, value))
            value = 0
        return Verdict(action, value)
    return Verdict(action)


def _errno(word: tree.VerdictWord, abi: str, reporter: Reporter) -> int:
    """Give the number of the error that `deny` names."""
    value = word.value
    if isinstance(value, tree.Number):
        if 1 <= value.value <= MAX_ERRNO:
            return value.value
        reporter.add(verdicts.ErrnoRange(value.span, value.value))
    elif value is not None:
        known = constants.errno(abi)
        if value.text in known:
            return known[value.text]
        if value.text in constants.members(constants.ERRNO):
            reporter.add(names.AbsentErrno(value.span, value.text, abi))
        else:
            reporter.add(names.UnknownErrno(value.span, value.text, reporter.closest(value.text, known, "errno")))
    return 1

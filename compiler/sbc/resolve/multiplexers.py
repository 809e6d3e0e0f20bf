"""Rules that a multiplexer goes round: `socketcall` reaches what a rule on `socket` denies."""

from collections.abc import Callable, Iterator, Mapping

from sbc.decision.policy_road import diagram_of_condition
from sbc.decision.table import FALSE, TRUE, Table, TooComplex
from sbc.diagnostics.catalogue import verdicts
from sbc.diagnostics.diagnostic import Reporter
from sbc.kernel.multiplexed import code_mask, multiplexed
from sbc.policy.conditions import Condition, Masked
from sbc.policy.syscalls import Rule
from sbc.resolve.calls import PlacedRule
from sbc.syntax import tree
from sbc_runtime.action import Action, Verdict

_STRICT = {Action.ALLOW: 0, Action.LOG: 1, Action.TRACE: 2, Action.NOTIFY: 2}
"""How strict the actions are that may carry a call out; every other one refuses it."""

_REFUSED = 3
_VERBS = {action.word: action for action in Action} | {"deny": Action.ERRNO}


def strictness(action: Action) -> int:
    """Tell how strict an action is: carried out, noted down, asked of another process, refused."""
    return _STRICT.get(action, _REFUSED)


class Multiplexers:
    """Finds the rules on a call that mean nothing, since its multiplexer does the call by a less strict verdict.

    Asked of is every rule that can decide on a listed ABI where a multiplexer reaches its call, with or without a
    condition, by name: i386 has no `accept`, but its `socketcall` has. The multiplexer's verdict for the call's code is
    what its own rules say. Where they decide for every value of the other arguments, the author has spoken, whatever
    the verdict is; where they leave some open, the default holds, and the rule must not be stricter than that.

    So under `default allow` each `deny` on `socket` needs a rule on `socketcall`, one for that code at least. Under a
    default that denies nothing is open: `allow socket when family == AF_UNIX` allows less than `socket` alone, and
    `socketcall` stays denied.
    """

    def __init__(self, fallback: Callable[[str, int], Verdict], reporter: Reporter) -> None:
        self._fallback = fallback
        self._reporter = reporter
        self._covered: dict[tuple[str, str, int], bool] = {}

    def check(self, placed: list[PlacedRule], lowered: dict[str, list[Rule]]) -> None:
        """Check the rules of all listed ABIs; `lowered` holds what they became on each, in the same order."""
        open_on: dict[tuple[int, str, str], tuple[tree.Word, list[str]]] = {}
        for abi, rules in lowered.items():
            for way, behind in multiplexed(abi).items():
                for one, word in self._rounded(abi, way, behind, placed, rules):
                    open_on.setdefault((id(one.node), word.text, way), (word, []))[1].append(abi)
        for (_, call, way), (word, abis) in open_on.items():
            self._reporter.add(verdicts.OpenMultiplexer(word.span, call, way, ", ".join(abis)))

    def _rounded(
        self, abi: str, way: str, behind: Mapping[str, int], placed: list[PlacedRule], rules: list[Rule]
    ) -> Iterator[tuple[PlacedRule, tree.Word]]:
        """Give the rules on the calls behind a multiplexer that it goes round, with the words that name the calls."""
        conditions: dict[str, list[Condition]] = {}
        for rule in rules:
            if rule.call == way or rule.call in behind:
                conditions.setdefault(rule.call, []).append(rule.condition)
        number = next((rule.number for rule in rules if rule.call == way), -1)
        least = strictness(self._fallback(abi, number).action)
        left: dict[str, _Left] = {}
        for one in placed if least < _REFUSED else ():
            if abi not in one.abis:
                continue
            for word in one.calls:
                if word.text not in behind:
                    continue
                call = left.setdefault(word.text, _Left(conditions.get(word.text)))
                decides = call.decides(one.node.guard is not None)
                if (
                    decides
                    and strictness(_VERBS[one.node.verdict.verb]) > least
                    and not self._covers(abi, way, behind[word.text], conditions.get(way, []))
                ):
                    yield one, word

    def _covers(self, abi: str, way: str, code: int, conditions: list[Condition]) -> bool:
        """Tell whether the rules on a multiplexer decide for a code, whatever the other arguments are."""
        key = abi, way, code
        if key not in self._covered:
            table = Table()
            try:
                open_still = diagram_of_condition(table, Masked(0, 32, code_mask(abi, way), code))
                for condition in conditions:
                    open_still = table.both(open_still, table.outside(diagram_of_condition(table, condition)))
                self._covered[key] = open_still == FALSE
            except TooComplex:  # the proof tells the author
                self._covered[key] = True
        return self._covered[key]


class _Left:
    """What the rules on one call, taken in order, have left undecided."""

    def __init__(self, conditions: list[Condition] | None) -> None:
        self._conditions = conditions
        """What the rules on the call became; None where the ABI does not have the call by itself."""
        self._taken = 0
        self._table = Table()
        self._undecided = TRUE
        self._complex = False

    def decides(self, guarded: bool) -> bool:
        """Take the next rule; tell whether it decides for some arguments."""
        at, self._taken = self._taken, self._taken + 1
        if self._undecided == FALSE or self._complex:
            return self._complex
        if self._conditions is None:  # without registers to look at, a condition is taken to leave something to all
            self._undecided = TRUE if guarded else FALSE
            return True
        try:
            asked = diagram_of_condition(self._table, self._conditions[at])
            decided = self._table.both(self._undecided, asked) != FALSE
            self._undecided = self._table.both(self._undecided, self._table.outside(asked))
        except TooComplex:  # the proof tells the author
            self._complex = True
            return True
        return decided

"""What rules reach, over all listed ABIs: words that nothing else would look at."""

from sbc.diagnostics.catalogue import names
from sbc.diagnostics.diagnostic import Reporter
from sbc.kernel.numbers import all_calls, numbers
from sbc.resolve.calls import PlacedRule, Statements
from sbc.resolve.guards import Guards
from sbc.resolve.scope import Scopes
from sbc.resolve.subjects import Place
from sbc.resolve.verdicts import verdict_of
from sbc.syntax import tree
from sbc_runtime.arch import ARCHES


def check_absent(rules: list[PlacedRule], listed: list[str], reporter: Reporter) -> None:
    """Note the names that do nothing; the stock library is written for every ABI, and groups are too."""
    for placed in rules:
        active = [abi for abi in listed if abi in placed.abis]
        if not active or placed.module.stock:
            continue
        for word in placed.node.calls:
            if (
                isinstance(word, tree.Word)
                and "*" not in word.text
                and word.text in all_calls()
                and not any(word.text in numbers(abi) for abi in active)
            ):
                reporter.add(names.AbsentCall(word.span, word.text, ", ".join(active)))


def check_unreached(
    statements: Statements, guards: Guards, listed: list[str], scopes: Scopes, reporter: Reporter
) -> None:
    """Check the words that no listed ABI reaches: of idle `on` blocks, absent calls, `rules` nobody includes."""
    for placed in statements.rules:
        if not placed.module.stock:
            _check_words(placed, [abi for abi in listed if abi in placed.abis], guards, reporter)
    unused = statements.another()
    for module in scopes.modules:
        for found in scopes.own(module).values() if not module.stock else ():
            if isinstance(found.node, tree.RulesDefinition) and not statements.includes(found.node):
                unused.include(found.node.name, module, frozenset(ARCHES), 0)
    for placed in unused.rules:
        if not placed.module.stock:
            _check_words(placed, [], guards, reporter)


def _check_words(placed: PlacedRule, reached: list[str], guards: Guards, reporter: Reporter) -> None:
    """Lower a rule's unreached calls for the first ABI that has each, for the errors alone."""
    node = placed.node
    own = [abi for abi in ARCHES if abi in placed.abis]
    if not reached:
        verdict_of(node.verdict, own[0] if own else next(iter(ARCHES)), reporter)
    if node.guard is None:
        return
    for word in placed.calls:
        if any(word.text in numbers(abi) for abi in reached):
            continue
        abi = next(abi for abi in (*own, *ARCHES) if word.text in numbers(abi))
        guards.lower(node.guard, placed.module, Place(word.text, abi, word.span))

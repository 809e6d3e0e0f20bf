"""Explains what a policy decides on a call, also where only some of its arguments are known."""

from sbc.analysis.explain.answer import CallAnswer, Outcome
from sbc.analysis.explain.question import CallQuestion, QuestionError, read_call
from sbc.analysis.explain.registers import MASK, registers
from sbc.decision.policy_road import diagram_of_condition
from sbc.decision.queries import difference
from sbc.decision.table import FALSE, Table, TooComplex
from sbc.decision.words import input_of_words
from sbc.diagnostics.suggest import closest
from sbc.kernel.numbers import names_of, numbers
from sbc.policy.conditions import AllOf, Masked
from sbc.policy.policy import Policy
from sbc.policy.syscalls import AbiRules, FilterPolicy, decide
from sbc_runtime.action import ALLOW
from sbc_runtime.arch import ARCHES, LAST_NUMBER, Arch


def explain_call(policy: Policy, text: str, abi: str | None = None) -> tuple[CallAnswer, ...]:
    """Answer a question about a call, for one ABI or for every one that the profile lists.

    `QuestionError` where the question is wrong for every ABI asked about.
    """
    question = read_call(text)
    answers: list[CallAnswer] = []
    wrong: QuestionError | None = None
    for filter_, arch in _asked_about(policy, abi):
        try:
            answers.append(_answer(filter_, arch, question))
        except QuestionError as error:
            wrong = wrong or error
    if wrong is not None and not answers:
        raise wrong
    return tuple(answers)


def _asked_about(policy: Policy, abi: str | None) -> list[tuple[FilterPolicy | None, Arch]]:
    listed = [(filter_, rules.arch) for filter_ in policy.syscalls.filters for rules in filter_.abis]
    if abi is None:
        return [*listed] or [(None, arch) for arch in ARCHES.values()]
    if abi not in ARCHES:
        near = closest(abi, ARCHES)
        help_text = f"did you mean `{near}`?" if near else f"known are {', '.join(ARCHES)}"
        raise QuestionError(f"unknown ABI `{abi}`", help_text)
    arch = ARCHES[abi]
    if not policy.syscalls.filters:
        return [(None, arch)]
    own = [filter_ for filter_, other in listed if other == arch]
    # An ABI that the profile does not list still reaches the filter of its kernel, and is foreign to it.
    found = own or [filter_ for filter_, other in listed if other.kernel == arch.kernel]
    if not found:
        have = ", ".join(other.name for _, other in listed)
        raise QuestionError(f"`{policy.name}` has no filter for {abi}", f"it has {have}")
    return [(found[0], arch)]


def _answer(filter_: FilterPolicy | None, arch: Arch, question: CallQuestion) -> CallAnswer:
    if isinstance(question.call, int):
        # Any word can stand in the register, also one that belongs to another ABI of the kernel (x32's).
        number = question.call & LAST_NUMBER
        call = names_of(arch.name).get(number)
    else:
        call, found = question.call, numbers(arch.name).get(question.call)
        if found is None:
            return CallAnswer(arch.name, call, None, ())
        number = found
    known = registers(question, call, arch.name)
    if filter_ is None:
        return CallAnswer(arch.name, call, number, (Outcome(ALLOW, None, "syscalls none"),))
    return CallAnswer(arch.name, call, number, _outcomes(filter_, arch, number, known))


def _outcomes(filter_: FilterPolicy, arch: Arch, number: int, known: tuple[int | None, ...]) -> tuple[Outcome, ...]:
    abi = filter_.rules_for(arch.audit, number)
    given = tuple(0 if value is None else value for value in known)
    if abi is None or None not in known:
        decision = decide(filter_, arch.audit, number, given)
        return (Outcome(decision.verdict, decision.origin, decision.by),)
    try:
        return possible(abi, number, known)
    except TooComplex as error:
        raise QuestionError(str(error), "give all six arguments") from None


def possible(abi: AbiRules, number: int, known: tuple[int | None, ...]) -> tuple[Outcome, ...]:
    """Give every outcome that the unknown arguments can still bring about, each once, in the order of the rules."""
    table = Table()
    left = diagram_of_condition(
        table, AllOf(tuple(Masked(arg, 64, MASK, value) for arg, value in enumerate(known) if value is not None))
    )
    made: dict[tuple[object, ...], Outcome] = {}

    def add(outcome: Outcome, inputs: int) -> None:
        words = difference(table, inputs, FALSE)
        if words is not None:
            key = (outcome.verdict, outcome.origin, outcome.by)
            example = input_of_words(words).args
            made.setdefault(key, Outcome(outcome.verdict, outcome.origin, outcome.by, example))

    for rule in abi.rules:
        if rule.number == number:
            matched = table.both(left, diagram_of_condition(table, rule.condition))
            add(Outcome(rule.verdict, rule.origin, "rule"), matched)
            left = table.both(left, table.outside(matched))
    if abi.newer is not None and abi.newer.low <= number <= abi.newer.high:
        add(Outcome(abi.newer.verdict, abi.newer.origin, "newer"), left)
    else:
        add(Outcome(abi.default, abi.default_origin, "default"), left)
    return tuple(made.values())

"""From what was said of a call's arguments to what is in its registers, under one ABI."""

from sbc.analysis.explain.question import MAX_ARGS, Asked, CallQuestion, QuestionError
from sbc.diagnostics.suggest import closest
from sbc.kernel.arguments import argument_alias
from sbc.kernel.constants import constants, family_of
from sbc.kernel.signature import Argument, signature

MASK = (1 << 64) - 1


def registers(question: CallQuestion, call: str | None, abi: str) -> tuple[int | None, ...]:
    """Give the six register values; None where nothing is known of one.

    Arguments without a name stand in the order of the ABI's registers: on s390x, `clone` has its flags second.
    """
    made: list[int | None] = [None] * MAX_ARGS
    given: dict[int, str] = {}
    for asked in question.args:
        place = asked.place if asked.name is None else _place(asked.name, call, abi)
        what = f"argument {asked.place + 1}" if asked.name is None else f"`{asked.name}`"
        if place in given:
            both = f"{given[place]} and {what}" if given[place] != what else f"{what} twice"
            raise QuestionError(f"the register in place {place} on {abi} is given by {both}")
        given[place] = what
        made[place] = _value(asked, abi)
    return tuple(made)


def _place(name: str, call: str | None, abi: str) -> int:
    known = signature(abi, call) if call is not None else None
    if len(name) == 4 and name.startswith("arg") and name[3] in "012345":
        place = int(name[3])
        own = known.argument(name) if known is not None else None
        if own is not None and own.position != place:
            why = f"`{name}` of `{call}` is the kernel's name for the argument in place {own.position}"
            raise QuestionError(why, "give the arguments in their order, `_` for any value")
        return place
    found: Argument | None = None
    if known is not None and call is not None:
        found = known.argument(name) or known.argument(argument_alias(call, name) or "")
    if found is None:
        near = closest(name, [argument.name for argument in known.args]) if known is not None else None
        raise QuestionError(
            f"`{call}` has no argument `{name}` on {abi}", f"did you mean `{near}`?" if near else "use `arg0` to `arg5`"
        )
    if found.position is None:
        raise QuestionError(f"`{name}` of `{call}` cannot be given on {abi}: {found.reason}", "use `arg0` to `arg5`")
    return found.position


def _value(asked: Asked, abi: str) -> int | None:
    if not asked.terms:
        return None
    value = 0
    for term in asked.terms:
        value |= (term if isinstance(term, int) else _constant(term, abi)) & MASK
    return value


def _constant(name: str, abi: str) -> int:
    known = constants(abi)
    if name in known:
        return known[name]
    if family_of(name) is not None:
        raise QuestionError(f"`{name}` does not exist on {abi}")
    near = closest(name, known)
    raise QuestionError(f"unknown constant `{name}`", f"did you mean `{near}`?" if near else None)

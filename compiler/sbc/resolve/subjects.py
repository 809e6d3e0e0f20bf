"""Arguments: which register a condition looks at, and which of its bits the kernel reads."""

import re
from typing import NamedTuple

from sbc.diagnostics.catalogue import arguments, names
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span
from sbc.kernel.arguments import argument_alias, argument_aliases
from sbc.kernel.signature import Argument, Signature, signature
from sbc.resolve.bits import Register
from sbc.syntax import tree

_NUMBERED = re.compile(r"arg([0-5])")
_TYPES = {"u16": (16, False), "u32": (32, False), "s32": (32, True), "s64": (64, True), "u64": (64, False)}


class Place(NamedTuple):
    """Where a rule is lowered: a call, the word that names it, and the ABI."""

    call: str
    abi: str
    span: Span


class Operand(NamedTuple):
    """What a test looks at. `argument` is the kernel's name where the test goes by it, for the check of constants."""

    register: Register
    pointer: bool
    name: str
    argument: str | None


def operand_of(subject: tree.Subject, place: Place, reporter: Reporter) -> Operand | None:
    """Resolve an argument; None where it cannot be tested there, which has then been told."""
    known = signature(place.abi, place.call)
    numbered = _NUMBERED.fullmatch(subject.name)
    if numbered is not None:
        own = known.argument(subject.name) if known is not None and subject.type is None else None
        if known is not None and own is not None and own.position != int(numbered.group(1)):
            reporter.add(_two_places(subject, int(numbered.group(1)), own, known, place))
            return None
        return _numbered(subject, int(numbered.group(1)), known, place, reporter)
    if subject.type is not None:
        reporter.add(arguments.TypedName(subject.type.span, subject.name))
        return None
    if known is None:
        reporter.add(arguments.NoSignature(subject.span, place.call, place.abi))
        return None
    argument = known.argument(subject.name) or known.argument(argument_alias(place.call, subject.name) or "")
    if argument is None:
        aliases = argument_aliases(place.call)
        listed = ", ".join(_spelled(one.name, aliases) for one in known.args)
        near = reporter.closest(subject.name, (*(one.name for one in known.args), *aliases), place.call)
        reporter.add(names.UnknownArgument(subject.span, subject.name, place.call, listed, near, place.span))
        return None
    if argument.position is None:
        registers = _registers(known, argument)
        reason = argument.reason or ""
        problem = arguments.NotInRegister(subject.span, subject.name, place.call, place.abi, reason, registers)
        reporter.add(problem)
        return None
    register = Register(argument.position, argument.width, argument.signed)
    return Operand(register, argument.pointer, subject.name, argument.name)


def _spelled(name: str, aliases: dict[str, str]) -> str:
    """Give a name with its other spellings."""
    others = [f"`{other}`" for other, own in aliases.items() if own == name]
    return f"`{name}` ({', '.join(others)})" if others else f"`{name}`"


def _registers(known: Signature, argument: Argument) -> str:
    """Say which registers hold the parts of an argument."""
    found = [f"`arg{at}`" for at, one in enumerate(known.registers) if one is not None and one.name == argument.name]
    return " or ".join(found)


def _two_places(
    subject: tree.Subject, index: int, own: Argument, known: Signature, place: Place
) -> arguments.ArgumentOrRegister:
    """Say what is meant by an `argN` that is also the kernel's name for an argument in another place."""
    kernels = None if own.position is None else f"arg{own.position}:{_type_name(own)}"
    register = known.register(index)
    numbered = None if register is None else f"arg{index}:{_type_name(register)}"
    return arguments.ArgumentOrRegister(subject.span, subject.name, place.call, own.position, index, kernels, numbered)


def _numbered(
    subject: tree.Subject, index: int, known: Signature | None, place: Place, reporter: Reporter
) -> Operand | None:
    if subject.type is not None:
        return _typed(subject, subject.type, (index, known), place, reporter)
    if known is None:
        reporter.add(arguments.NoSignature(subject.span, place.call, place.abi))
        return None
    read = known.register(index)
    if read is None:
        reporter.add(arguments.UnreadRegister(subject.span, subject.name, place.call, place.abi))
        return None
    # A half of a split argument, or the address of arguments in memory, has no constants of its own.
    whole = read.position == index and known.argument(read.name) is read
    register = Register(index, read.width, read.signed)
    return Operand(register, read.pointer, subject.name, read.name if whole else None)


def _typed(
    subject: tree.Subject, written: tree.Word, register: tuple[int, Signature | None], place: Place, reporter: Reporter
) -> Operand | None:
    kind = _TYPES.get(written.text)
    if kind is None:
        reporter.add(arguments.UnknownType(written.span, written.text))
        return None
    width, signed = kind
    index, known = register
    if known is not None:
        actual = _type_name(known.register(index))
        if actual != written.text:
            problem = arguments.OtherType(written.span, subject.name, written.text, place.call, actual)
            reporter.add(problem)
    return Operand(Register(index, width, signed), False, subject.name, None)


def _type_name(argument: Argument | None) -> str:
    """Say what the kernel reads, in the language's types where there is one."""
    if argument is None:
        return "nothing"
    if argument.pointer:
        return "a pointer"
    return f"{'s' if argument.signed else 'u'}{argument.width}"

"""Functions of numbers, strings, characters and words."""

from collections.abc import Callable
from itertools import pairwise

from sbc.diagnostics.catalogue.sbpl import SbplMissingParameter, SbplRaised
from sbc.seatbelt.lists import items_of, made
from sbc.seatbelt.procedures import Builtin, Call, Lambda, shown
from sbc.seatbelt.reader import LARGEST
from sbc.seatbelt.refuse import refused
from sbc.seatbelt.values import Char, Symbol, Value, normal, symbol


def text_of(call: Call, arguments: list[Value], index: int) -> str:
    """Give an argument that must be a string."""
    value = arguments[index]
    if value is False:
        raise refused(SbplMissingParameter(call.place(index), call.name))
    if not isinstance(value, str):
        raise call.wrong(f"takes a string, not {shown(value)}", index)
    call.machine.budget.work(call.at, 1 + len(value) // 8)
    return value


def number_of(call: Call, arguments: list[Value], index: int) -> int:
    """Give an argument that must be a number."""
    value = arguments[index]
    if not isinstance(value, int) or isinstance(value, bool):
        raise call.wrong(f"takes a number, not {shown(value)}", index)
    return value


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _fitting(call: Call, value: int) -> int:
    """Give a number that fits: what macOS does with a larger one is not known."""
    if abs(value) > LARGEST:
        raise call.wrong("gives a number that does not fit 64 bits")
    return value


def _numbers(call: Call, arguments: list[Value]) -> list[int]:
    return [number_of(call, arguments, index) for index in range(len(arguments))]


def _add(call: Call, arguments: list[Value]) -> Value:
    return _fitting(call, sum(_numbers(call, arguments)))


def _subtract(call: Call, arguments: list[Value]) -> Value:
    first, *others = _numbers(call, arguments)
    return _fitting(call, first - sum(others) if others else -first)


def _multiply(call: Call, arguments: list[Value]) -> Value:
    product = 1
    for number in _numbers(call, arguments):
        product = _fitting(call, product * number)
    return product


def _divide(call: Call, arguments: list[Value], *, rest: bool) -> Value:
    """Divide as C does: towards zero."""
    a, b = _numbers(call, arguments)
    if b == 0:
        raise call.wrong("divides by zero", 1)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a - quotient * b if rest else quotient


def _ordered(call: Call, arguments: list[Value], holds: Callable[[int, int], bool]) -> Value:
    return all(holds(a, b) for a, b in pairwise(_numbers(call, arguments)))


def _compared(call: Call, arguments: list[Value], holds: Callable[[bytes, bytes], bool], *, folded: bool) -> Value:
    texts = [text_of(call, arguments, index) for index in range(2)]
    # Bytes, as in C; only ASCII letters have two cases there.
    a, b = (_bytes(text).lower() if folded else _bytes(text) for text in texts)
    return holds(a, b)


def _append(call: Call, arguments: list[Value]) -> Value:
    texts = [text_of(call, arguments, index) for index in range(len(arguments))]
    call.machine.budget.cells(call.at, sum(map(len, texts)))
    return normal("".join(texts))


def _substring(call: Call, arguments: list[Value]) -> Value:
    data = _bytes(text_of(call, arguments, 0))
    start = number_of(call, arguments, 1)
    end = number_of(call, arguments, 2) if len(arguments) == 3 else len(data)
    if not 0 <= start <= end <= len(data):
        raise call.wrong("takes a range within the string", 1)
    call.machine.budget.cells(call.at, end - start)
    return data[start:end].decode("utf-8", "surrogateescape")


def _character(call: Call, arguments: list[Value]) -> Value:
    data, index = _bytes(text_of(call, arguments, 0)), number_of(call, arguments, 1)
    if not 0 <= index < len(data):
        raise call.wrong("takes a place within the string", 1)
    return Char(data[index])


def _to_number(call: Call, arguments: list[Value]) -> Value:
    text = text_of(call, arguments, 0)
    digits = text.removeprefix("-").removeprefix("+")
    # Read in macOS's library: an error, not #f, where the text is no number.
    if not digits.isascii() or not digits.isdigit() or len(digits) > 20 or len(text) - len(digits) > 1:
        raise call.wrong(f"takes the text of a whole number, not {shown(text)}", 0)
    return _fitting(call, int(text))


def _characters(call: Call, arguments: list[Value]) -> Value:
    return made(call, [Char(byte) for byte in _bytes(text_of(call, arguments, 0))])


def _of_characters(call: Call, arguments: list[Value]) -> Value:
    return _joined(call, items_of(call, arguments, 0))


def _joined(call: Call, items: list[Value]) -> Value:
    call.machine.budget.cells(call.at, len(items))
    parts: list[str] = []
    for item in items:
        if not isinstance(item, Char):
            raise call.wrong("takes characters")
        code = item.code
        parts.append(bytes((code,)).decode("utf-8", "surrogateescape") if 127 < code < 256 else chr(code))
    return normal("".join(parts))


def _code(call: Call, arguments: list[Value]) -> Value:
    value = arguments[0]
    if not isinstance(value, Char):
        raise call.wrong("takes a character", 0)
    return value.code


def _words(call: Call, arguments: list[Value]) -> Value:
    if not isinstance(arguments[0], Symbol):
        raise call.wrong("takes a word", 0)
    return arguments[0].name


def _error(call: Call, arguments: list[Value]) -> Value:
    message = " ".join(one if isinstance(one, str) else shown(one) for one in arguments[:8])
    raise refused(SbplRaised(call.at, message[:400]))


def _is(kind: type | tuple[type, ...]) -> Callable[[Call, list[Value]], Value]:
    return lambda _call, arguments: isinstance(arguments[0], kind)


def _comparisons() -> list[Builtin]:
    numbers: dict[str, Callable[[int, int], bool]] = {
        "=": int.__eq__,
        "<": int.__lt__,
        ">": int.__gt__,
        "<=": int.__le__,
        ">=": int.__ge__,
    }
    texts: dict[str, Callable[[bytes, bytes], bool]] = {
        "=": bytes.__eq__,
        "<": bytes.__lt__,
        ">": bytes.__gt__,
        "<=": bytes.__le__,
        ">=": bytes.__ge__,
    }
    made: list[Builtin] = [
        Builtin(sign, lambda call, arguments, holds=holds: _ordered(call, arguments, holds), 1)
        for sign, holds in numbers.items()
    ]
    for sign, holds in texts.items():
        for middle, folded in (("", False), ("-ci", True)):
            made.append(
                Builtin(
                    f"string{middle}{sign}?",
                    lambda call, arguments, holds=holds, folded=folded: _compared(
                        call, arguments, holds, folded=folded
                    ),
                    2,
                    2,
                )
            )
    return made


FUNCTIONS: tuple[Builtin, ...] = (
    *_comparisons(),
    Builtin("+", _add),
    Builtin("-", _subtract, 1),
    Builtin("*", _multiply),
    Builtin("quotient", lambda call, arguments: _divide(call, arguments, rest=False), 2, 2),
    Builtin("remainder", lambda call, arguments: _divide(call, arguments, rest=True), 2, 2),
    Builtin("zero?", lambda call, arguments: number_of(call, arguments, 0) == 0, 1, 1),
    Builtin("not", lambda _call, arguments: arguments[0] is False, 1, 1),
    Builtin("number?", lambda _call, arguments: type(arguments[0]) is int, 1, 1),
    Builtin("integer?", lambda _call, arguments: type(arguments[0]) is int, 1, 1),
    Builtin("boolean?", _is(bool), 1, 1),
    Builtin("string?", _is(str), 1, 1),
    Builtin("symbol?", _is(Symbol), 1, 1),
    Builtin("char?", _is(Char), 1, 1),
    Builtin("procedure?", _is((Builtin, Lambda)), 1, 1),
    Builtin("char=?", lambda call, arguments: _code(call, arguments) == _code(call, arguments[1:]), 2, 2),
    Builtin("char->integer", _code, 1, 1),
    Builtin("string", _joined),
    Builtin("string-append", _append),
    Builtin("string-length", lambda call, arguments: len(_bytes(text_of(call, arguments, 0))), 1, 1),
    Builtin("string-ref", _character, 2, 2),
    Builtin("substring", _substring, 2, 3),
    Builtin("string->number", _to_number, 1, 1),
    Builtin("number->string", lambda call, arguments: str(number_of(call, arguments, 0)), 1, 1),
    Builtin("string->list", _characters, 1, 1),
    Builtin("list->string", _of_characters, 1, 1),
    Builtin("string->symbol", lambda call, arguments: symbol(text_of(call, arguments, 0)), 1, 1),
    Builtin("symbol->string", _words, 1, 1),
    Builtin("error", _error, 1),
)

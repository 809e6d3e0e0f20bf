"""Functions of lists, and those that call functions: `map`, `for-each`, `apply`, `filter`."""

from collections.abc import Generator

from sbc.seatbelt.procedures import Apply, Builtin, Call, Step, Task
from sbc.seatbelt.values import NIL, UNSPECIFIED, Pair, Value, from_list, same, to_list


def items_of(call: Call, arguments: list[Value], index: int) -> list[Value]:
    """Give the items of an argument that must be a list."""
    items = to_list(arguments[index])
    if items is None:
        raise call.wrong("takes a list", index)
    call.machine.budget.work(call.at, len(items))
    return items


def pair_of(call: Call, value: Value) -> Pair:
    """Give an argument that must be a list with an item."""
    if not isinstance(value, Pair):
        raise call.wrong("takes a list with an item", 0)
    return value


def made(call: Call, items: list[Value], tail: Value = NIL) -> Value:
    """Make a list, counted."""
    call.machine.budget.cells(call.at, len(items))
    return from_list(items, call.at, tail)


def equal(call: Call, a: Value, b: Value) -> bool:
    """Compare by content; every comparison counts, so that shared parts cannot make it endless."""
    waiting = [(a, b)]
    while waiting:
        one, other = waiting.pop()
        call.machine.budget.work(call.at, 1)
        if isinstance(one, Pair) and isinstance(other, Pair):
            waiting += [(one.cdr, other.cdr), (one.car, other.car)]
        elif isinstance(one, str) and isinstance(other, str):
            if one != other:
                return False
        elif not same(one, other):
            return False
    return True


def _path(letters: str) -> Builtin:
    """Make `car`, `cdr` and what is composed of them."""

    def walk(call: Call, arguments: list[Value]) -> Value:
        value = arguments[0]
        for letter in reversed(letters):
            pair = pair_of(call, value)
            value = pair.car if letter == "a" else pair.cdr
        return value

    return Builtin(f"c{letters}r", walk, 1, 1)


def _cons(call: Call, arguments: list[Value]) -> Value:
    call.machine.budget.cells(call.at, 1)
    return Pair(arguments[0], arguments[1], call.place(0))


def _append(call: Call, arguments: list[Value]) -> Value:
    if not arguments:
        return NIL
    result = arguments[-1]
    for index in range(len(arguments) - 2, -1, -1):
        result = made(call, items_of(call, arguments, index), result)
    return result


def _from(call: Call, arguments: list[Value]) -> Value:
    """Give a list without its first items (`list-tail`)."""
    value, count = arguments
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise call.wrong("takes a number of items", 1)
    for _ in range(count):
        call.machine.budget.work(call.at, 1)
        value = pair_of(call, value).cdr
    return value


def _ref(call: Call, arguments: list[Value]) -> Value:
    return pair_of(call, _from(call, arguments)).car


def _take(call: Call, arguments: list[Value]) -> Value:
    items, count = items_of(call, arguments, 0), arguments[1]
    if not isinstance(count, int) or not 0 <= count <= len(items):
        raise call.wrong("takes a number of items that there are", 1)
    return made(call, items[:count])


class _Find:
    """`memv`, `member`, `assv`, `assoc`: the first item (or pair) that is, or equals, a key."""

    def __init__(self, *, exact: bool, pairs: bool) -> None:
        self._exact = exact
        self._pairs = pairs

    def __call__(self, call: Call, arguments: list[Value]) -> Value:
        """Find it, or give #f."""
        key, here = arguments
        while isinstance(here, Pair):
            call.machine.budget.work(call.at, 1)
            one = here.car
            if self._pairs:
                if not isinstance(one, Pair):
                    raise call.wrong("takes a list of pairs", 1)
                one = one.car
            if same(key, one) if self._exact else equal(call, key, one):
                return here.car if self._pairs else here
            here = here.cdr
        if here is not NIL:
            raise call.wrong("takes a list", 1)
        return False


def _columns(call: Call, arguments: list[Value]) -> list[list[Value]]:
    """Give what a function is to be called with: the first of each list, the second of each, up to the shortest."""
    lists = [items_of(call, arguments, index) for index in range(1, len(arguments))]
    call.machine.budget.cells(call.at, sum(map(len, lists)))
    return [list(column) for column in zip(*lists, strict=False)]


def _results(call: Call, arguments: list[Value]) -> Generator[Task | Step, Value, list[Value]]:
    results: list[Value] = []
    for column in _columns(call, arguments):
        results.append((yield Apply(arguments[0], column, call.at)))
    return results


def _map(call: Call, arguments: list[Value]) -> Step:
    return made(call, (yield from _results(call, arguments)))


def _for_each(call: Call, arguments: list[Value]) -> Step:
    yield from _results(call, arguments)
    return UNSPECIFIED


def _filter(call: Call, arguments: list[Value]) -> Step:
    items = items_of(call, arguments, 1)
    kept = yield from _results(call, arguments)
    return made(call, [item for item, keep in zip(items, kept, strict=True) if keep is not False])


def _fold(call: Call, arguments: list[Value]) -> Step:
    value = arguments[1]
    for item in items_of(call, arguments, 2):
        value = yield Apply(arguments[0], [value, item], call.at)
    return value


def _apply(call: Call, arguments: list[Value]) -> Value:
    items = items_of(call, arguments, len(arguments) - 1)
    call.machine.budget.cells(call.at, len(items))
    return Apply(arguments[0], [*arguments[1:-1], *items], call.at)


def _is_list(call: Call, arguments: list[Value]) -> Value:
    here, count = arguments[0], 1
    while isinstance(here, Pair):
        here = here.cdr
        count += 1
    call.machine.budget.work(call.at, count)
    return here is NIL


FUNCTIONS: tuple[Builtin, ...] = (
    *(
        _path(letters)
        for letters in ("a", "d", "aa", "ad", "da", "dd", "add", "ddd", "dda", "aad", "dad", "ada", "addd")
    ),
    Builtin("cons", _cons, 2, 2),
    Builtin("list", made),
    Builtin("append", _append),
    Builtin("length", lambda call, arguments: len(items_of(call, arguments, 0)), 1, 1),
    Builtin("reverse", lambda call, arguments: made(call, items_of(call, arguments, 0)[::-1]), 1, 1),
    Builtin("list-tail", _from, 2, 2),
    Builtin("list-ref", _ref, 2, 2),
    Builtin("drop", _from, 2, 2),
    Builtin("take", _take, 2, 2),
    Builtin("memq", _Find(exact=True, pairs=False), 2, 2),
    Builtin("memv", _Find(exact=True, pairs=False), 2, 2),
    Builtin("member", _Find(exact=False, pairs=False), 2, 2),
    Builtin("assq", _Find(exact=True, pairs=True), 2, 2),
    Builtin("assv", _Find(exact=True, pairs=True), 2, 2),
    Builtin("assoc", _Find(exact=False, pairs=True), 2, 2),
    Builtin("map", _map, 2),
    Builtin("for-each", _for_each, 2),
    Builtin("filter", _filter, 2, 2),
    Builtin("foldr", _fold, 3, 3),
    Builtin("apply", _apply, 2),
    Builtin("null?", lambda _call, arguments: arguments[0] is NIL, 1, 1),
    Builtin("pair?", lambda _call, arguments: isinstance(arguments[0], Pair), 1, 1),
    Builtin("list?", _is_list, 1, 1),
    Builtin("eq?", lambda _call, arguments: same(arguments[0], arguments[1]), 2, 2),
    Builtin("eqv?", lambda _call, arguments: same(arguments[0], arguments[1]), 2, 2),
    Builtin("equal?", lambda call, arguments: equal(call, arguments[0], arguments[1]), 2, 2),
)

"""What two diagrams decide differently: all of it, and nothing else."""

from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from sbc.decision.changes import Cube, Region, changed_regions, changed_verdicts, cubes
from sbc.decision.policy_road import diagram_of_policy
from sbc.decision.queries import value_at
from sbc.decision.table import FALSE, TRUE, Table
from sbc.decision.words import BITS, Input, MaskedWord, low_word
from sbc.policy.conditions import Masked
from sbc.policy.syscalls import FilterPolicy
from sbc_runtime.action import ALLOW
from sbc_runtime.arch import ARCHES
from tests.bpf.policies import ENOSYS, EPERM, equals, inputs, policies, policy, rule

X86_64 = ARCHES["x86_64"].audit


def test_regions_and_cubes_of_a_small_change() -> None:
    table = Table()
    old = diagram_of_policy(table, policy(rule(5, EPERM), rule(6, EPERM), rule(41, EPERM, Masked(0, 32, 6, 2))))
    new = diagram_of_policy(table, policy(rule(6, EPERM), rule(41, ENOSYS, Masked(0, 32, 6, 2))))
    regions = list(changed_regions(table, old, new))
    assert [region[:4] for region in regions] == [(X86_64, X86_64, 5, 5), (X86_64, X86_64, 41, 41)]
    assert list(cubes(table, *regions[0][4:])) == [Cube((), EPERM, ALLOW)]
    assert list(cubes(table, *regions[1][4:])) == [Cube(((MaskedWord(low_word(0), 6), 2),), EPERM, ENOSYS)]
    assert set(changed_verdicts(table, old, new)) == {(EPERM, ALLOW), (EPERM, ENOSYS)}


def test_neighbours_with_one_change_are_one_region() -> None:
    table = Table()
    old = diagram_of_policy(table, policy())
    new = diagram_of_policy(table, policy(*(rule(number, EPERM) for number in range(10, 20))))
    assert [region[2:4] for region in changed_regions(table, old, new)] == [(10, 19)]
    assert list(changed_regions(table, old, old)) == []


@settings(max_examples=60, deadline=None)
@given(policies(), policies())
def test_every_difference_is_in_a_region_and_every_region_differs(one: FilterPolicy, other: FilterPolicy) -> None:
    table = Table()
    left, right = diagram_of_policy(table, one), diagram_of_policy(table, other)
    regions = list(changed_regions(table, left, right))
    for region in regions:
        assert region.left != region.right
        for cube in islice(cubes(table, region.left, region.right), 5):
            words = list(Input(region.first_audit, region.last_number, (0,) * 6).words())
            for (word, mask), value in cube.tests:
                words[word] = words[word] & ~mask | value
            assert (value_at(table, left, words), value_at(table, right, words)) == (cube.old, cube.new)
            assert cube.old != cube.new
    changed = changed_verdicts(table, left, right)
    for audit, number, args in (*inputs(one, 1), *inputs(other, 1)):
        words = Input(audit, number, args).words()
        pair = (value_at(table, left, words), value_at(table, right, words))
        within = [region for region in regions if _contains(region, audit, number)]
        assert pair[0] == pair[1] or len(within) == 1
        for change, where in changed.items():
            assert _holds(table, where, words) == (change == pair)


def _contains(region: Region, audit: int, number: int) -> bool:
    of_arch = region.first_audit <= audit <= region.last_audit
    return of_arch and region.first_number <= number <= region.last_number


def _holds(table: Table, node: int, words: tuple[int, ...]) -> bool:
    while node not in (FALSE, TRUE):
        word, place = divmod(table.variable[node], BITS)
        node = table.high[node] if words[word] >> BITS - 1 - place & 1 else table.low[node]
    return node == TRUE


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 7), max_size=4), st.lists(st.integers(0, 7), max_size=4))
def test_cubes_are_disjoint_and_complete(old: list[int], new: list[int]) -> None:
    """Of three bits, so that every value can be tried."""
    table = Table()
    diagrams = [
        diagram_of_policy(table, policy(*(rule(1, EPERM, equals(0, value)) for value in values)))
        for values in (old, new)
    ]
    found = list(cubes(table, *diagrams))
    for value in range(16):
        words = Input(X86_64, 1, (value, 0, 0, 0, 0, 0)).words()
        hit = [cube for cube in found if all(words[word] & mask == wanted for (word, mask), wanted in cube.tests)]
        assert len(hit) == ((value in old) != (value in new))

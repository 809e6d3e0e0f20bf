"""From a filter's policy to a classic-BPF program: the code generator on one page.

1. `dispatch` makes a cell of every interval of numbers, for every ABI. First, since all else hangs below it.
2. `arguments` makes the code of each call with conditions: `select` brings them to the 32-bit words that a filter
   loads, before anything is compared, so that one word's tests meet; `regions` decides all rules of the call at once,
   one field after the other; `feasible` drops what no argument reaches, before code is made of it.
3. `search` finds a value's cell, for numbers, ABIs and arguments alike, over the `leaves` that make it smallest.
   After the calls' code: only then is it known which neighbouring numbers lead to the same place.
4. `code` keeps the result as a graph in which equal code is one node, while it is made: every return and every equal
   tail is shared, and what would test nothing never comes to be.
5. `assemble` puts in loads, counts distances and bridges far jumps. Last, since each changes with any other step.

No step may change a verdict; what they made together is proven against the policy afterwards, by other code.
"""

from sbc.backends.bpf.assemble import assemble, size
from sbc.backends.bpf.code import Code
from sbc.backends.bpf.dispatch import Dispatch
from sbc.policy.syscalls import FilterPolicy
from sbc_runtime.instruction import MAX_INSTRUCTIONS, Program


class TooLarge(Exception):
    """The policy's filter has more instructions than the kernel takes."""

    def __init__(self, name: str, instructions: int, call: str | None, call_instructions: int) -> None:
        message = f"the filter `{name}` would have {instructions} instructions; the kernel takes {MAX_INSTRUCTIONS}"
        if call is not None:
            message += f" (`{call}` alone has {call_instructions})"
        super().__init__(message)
        self.name = name
        self.instructions = instructions
        self.call = call
        self.call_instructions = call_instructions


def generate(policy: FilterPolicy) -> Program:
    """Give the program that decides every call as the policy does; `TooLarge` where the kernel would refuse it."""
    code = Code()
    dispatch = Dispatch(code, policy)
    root = dispatch.build()
    program = assemble(code, root)
    if len(program) > MAX_INSTRUCTIONS:
        largest, call = 0, None
        for called in dispatch.calls:
            length = size(code, called.node)
            if length > largest:
                largest, call = length, called.name
        raise TooLarge(policy.name, len(program), call, largest)
    return program

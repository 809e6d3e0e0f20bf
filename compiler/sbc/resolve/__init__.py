"""From syntax trees to the policy: names, types, inheritance.

In the order of the work: `modules` reads the files; `scope` and `groups` say what a name means; `chain` finds the
profile and those that it extends; `lower` goes through the blocks, one module each. For `syscalls`: `calls` walks the
statements, `syscalls` lowers them for each ABI, `guards`, `conditions`, `subjects`, `values` and `bits` turn a
condition into tests on bits, `reach` checks over all ABIs. `inherit` and `systems` serve the other blocks.
"""

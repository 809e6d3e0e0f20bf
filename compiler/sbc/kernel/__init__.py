"""What the compiler knows about the kernel. Data only: nothing here looks at the machine that it runs on.

Import from the module that has the fact, so that nothing else is loaded:

- `abi`: ABIS, WORD_BITS, X32_BIT
- `numbers`: numbers, names_of, all_calls, expand_glob, in_main_table
- `releases`: since, last_number, known_releases
- `signature`: signature, Signature, Argument
- `arguments`: argument_alias, argument_aliases, argument_families
- `constants`: constants, errno, families, members, family_of, constant_origin
- `siblings`: siblings, Sibling
- `multiplexed`: multiplexed, multiplexer_of

The tables are JSON under `data/`, one file for each ABI and some that all share; each is read when first asked for.
The scripts that write them, and the sources, are in `compiler/kernel_tables/`.
"""

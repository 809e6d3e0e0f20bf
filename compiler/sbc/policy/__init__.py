"""The policy: what a profile means, once every name in it is resolved; the border between language and targets.

Glossary, in the field's terms:

- *call*: a system call by name; *number*: its number under one ABI (`sbc_runtime.arch`).
- *action*, *verdict*: what the kernel does with a call; a verdict is an action with its data (`sbc_runtime.action`).
- *rule*: verdict, number and condition. Rules are tried from the top; the first that names the call and whose
  condition holds decides; where none does, `newer` or `default` decides.
- *condition*: a Boolean combination of tests on arguments; *masked equality*: `(x & mask) == value`.
- *filter*: one classic-BPF program; it serves one ABI or several *joined* ones; every other ABI is *foreign* to it.
- *access*: what a path may be used for: read, write, hide. The most specific statement that covers a path decides.
- *origin*: the statement of the profile that something comes from.
- *loss*: a statement that a target cannot enforce as written; *narrower*: it allows less; *wider*: it allows more.

Nothing here knows of syntax, and nothing here knows of any target.
"""

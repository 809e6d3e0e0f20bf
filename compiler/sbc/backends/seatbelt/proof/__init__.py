"""The proof of emission: an emitted profile and its policy decide the same.

The profile is read back by the evaluator (`sbc.seatbelt`). What it decides is compared with what the policy means, for
every path that matters, every operation and chosen values of the parameters. The policy is read here a second time, in
the plainest way and with none of the emitter's code: a mistake there cannot hide here. Its parts:

- `places`: the statements of the `files` block, with parameters filled in; which of them decides a path.
- `raw`: what the `seatbelt` block and the shipped base say, each for itself.
- `meaning`: what the policy decides.
- `values`, `questions`: with which values, about what.
- `prove`: the comparison.

What it shows is that the two agree on what was asked. It is no proof for every path and value, and none about macOS.
"""

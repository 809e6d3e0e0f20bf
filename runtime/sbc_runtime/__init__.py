"""The thin runtime of `sbc`: the kernel's vocabulary, the bundle, and what applies it. Standard library only."""

"""The target `sbpl`: profiles of macOS's Seatbelt.

Two rules of SBPL shape everything here. A rule on a concrete operation beats any rule on what it falls under, and a
rule without a filter is only what holds where no filtered rule matches. So each rule names the concrete operations
that other rules named (`rules`), and what may not be undone has a filter that always matches (`network`).
"""

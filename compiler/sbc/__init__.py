"""The `sbc` compiler: one policy file in; proven filters, SBPL, bubblewrap arguments, a bundle and docs out."""

__version__ = "0.1.0"

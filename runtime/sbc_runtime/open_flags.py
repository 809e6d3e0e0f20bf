"""Flags of open(2) for reading a file that somebody else named."""

import os

_NOT_EVERYWHERE = ("O_CLOEXEC", "O_NOCTTY", "O_NONBLOCK", "O_BINARY")

READ: int = sum((getattr(os, name, 0) for name in _NOT_EVERYWHERE), os.O_RDONLY)
"""No inheritance, no controlling terminal, no waiting for the writer of a FIFO; Windows: bytes as they are."""

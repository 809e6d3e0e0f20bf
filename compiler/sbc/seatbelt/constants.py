"""Words for numbers of the system, as profiles use them."""

from typing import Final

from sbc.seatbelt.values import Name, Value

_SIGNALS = """
    SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGEMT SIGFPE SIGKILL SIGBUS SIGSEGV SIGSYS SIGPIPE SIGALRM SIGTERM
    SIGURG SIGSTOP SIGTSTP SIGCONT SIGCHLD SIGTTIN SIGTTOU SIGIO SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGINFO
    SIGUSR1 SIGUSR2
"""

NUMBERS: Final[dict[str, int]] = {
    **{name: number for number, name in enumerate(_SIGNALS.split(), 1)},
    "AF_UNSPEC": 0,
    "AF_UNIX": 1,
    "AF_LOCAL": 1,
    "AF_INET": 2,
    "AF_ROUTE": 17,
    "AF_LINK": 18,
    "AF_NDRV": 27,
    "AF_INET6": 30,
    "AF_SYSTEM": 32,
    "AF_IEEE80211": 37,
    "AF_UTUN": 38,
    "SOCK_STREAM": 1,
    "SOCK_DGRAM": 2,
    "SOCK_RAW": 3,
    "SOCK_RDM": 4,
    "SOCK_SEQPACKET": 5,
}
"""Constants whose number is the same on every release of macOS."""

WORDS: Final[dict[str, tuple[str, ...]]] = {
    "vnode-type": ("REGULAR-FILE", "DIRECTORY", "SYMLINK", "BLOCK-DEVICE", "CHARACTER-DEVICE", "SOCKET", "FIFO", "TTY"),
    "target": ("self", "pgrp", "others", "children", "same-sandbox", "initproc"),
    "process-attribute": (
        "is-plugin",
        "is-installer",
        "is-restricted",
        "is-initproc",
        "is-platform-binary",
        "is-sandboxed",
        "is-nvram-privileged",
        "is-datavault-controller",
        "is-apple-signed-executable",
    ),
    "file-attribute": (
        "sip-protected",
        "datavault",
        "time-machine-backup",
        "time-machine-device",
        "local-filesystem",
        "root-filesystem",
        "snapshot",
        "removable-media",
        "disk-image",
        "sip-protected-filesystem",
        "removable-device",
        "disk-image-device",
        "sip-protected-device",
        "protected-ancestor",
        "network-approval-exempt",
        "smb-home-mount-dir",
        "fileprovider-owned",
    ),
    "system-attribute": ("sandbox-debug-mode",),
    "iokit-registry-entry-attribute": ("ioservice-requires-approval",),
}
"""Words that filters take, by the filter's name."""

PROTOCOLS: Final = ("ip", "ip4", "ip6", "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6")
"""What `remote` and `local` begin with, besides `unix` and `unix-socket`."""

_PREFIXES = (
    *("SYS_", "MSC_", "FSIOC_", "APFSIOC_", "APFS_FSCTL_", "HFSIOC_", "DKIO", "FIO", "TIOC", "SIOC", "CTLIOC"),
    *("NFS_IOC_", "FSEVENTS_", "PRIV_", "HOST_", "CSR_ALLOW_", "PERSONA_", "AF_", "pseudo_AF_", "kUSB"),
)
"""How constants begin whose numbers are not held here; they are compared by name, and with a number not at all."""


def constant(name: str) -> Value | None:
    """Give the value of a constant of the system; None where the name is none."""
    if name in NUMBERS:
        return NUMBERS[name]
    return Name(name) if name.startswith(_PREFIXES) else None

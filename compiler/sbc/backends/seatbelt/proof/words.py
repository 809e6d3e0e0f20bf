"""What the contract's words mean in SBPL's operations."""

from typing import Final

READ: Final = frozenset({"file-read*", "file-read-data", "file-read-xattr", "file-search"})
"""Contents and metadata."""

LOOK: Final = frozenset({"file-read-metadata", "file-test-existence"})
"""That something is there, and of what kind: reading that is also allowed on the way to what is visible."""

UNLINK: Final = "file-write-unlink"
"""To remove and to rename; also of the folders above a protected path."""

WRITE: Final = frozenset(
    {
        *("file-write*", "file-write-acl", "file-write-create", "file-write-data", "file-write-finderinfo"),
        *("file-write-flags", "file-write-mode", "file-write-owner", "file-write-setugid", "file-write-times"),
        *(UNLINK, "file-write-xattr", "file-link", "file-clone", "file-mknod", "file-mount", "file-mount-update"),
        *("file-unmount", "file-revoke"),
    }
)
"""Create, change, remove, rename, link, clone, mount."""

EXEC: Final = frozenset(
    {"process-exec*", "process-exec-interpreter", "process-exec-update-label", "file-map-executable"}
)
"""Running, and mapping to run."""

FILES: Final = READ | LOOK | WRITE | EXEC
"""What the `files` block decides."""

BESIDE: Final = frozenset({"file-ioctl", "file-lock", "file-issue-extension", "file-chroot"})
"""Operations on paths that it does not, `file-ioctl` under `/dev` excepted."""

LINKS: Final = ("network-outbound", "network-bind", "network-inbound")
"""What the `network` block decides: to connect, to have an address, to be connected to."""

OTHERS: Final = frozenset(
    {
        *("signal", "process-info*", "process-info-codesignature", "process-info-dirtycontrol", "process-info-ledger"),
        *("process-info-listpids", "process-info-rusage", "process-info-pidinfo", "process-info-pidfdinfo"),
        *("process-info-pidfileportinfo", "process-info-setcontrol"),
    }
)
"""What the derived `process` block decides: nothing about processes outside the sandbox, no signal to them."""

TASKS: Final = frozenset({"mach-priv-task-port", "mach-task-name"})
"""Names of and rights to other processes' tasks: for those outside as `OTHERS`."""

INSIDES: Final = frozenset(
    {
        *("mach-task-inspect", "mach-task-read", "mach-task-special-port*"),
        *("mach-task-special-port-get", "mach-task-special-port-set"),
    }
)
"""Memory and state of another process: closed, and opened by nothing but a rule of the block on the very operation."""

SHARED: Final = frozenset(
    {
        *("ipc-posix-shm*", "ipc-posix-shm-read-data", "ipc-posix-shm-write*", "ipc-posix-shm-write-create"),
        *("ipc-posix-shm-write-data", "ipc-posix-shm-write-unlink"),
    }
)
"""Memory shared by name with any process of the host."""

PAGES: Final = ("apple.shm.notification_center", "apple.cfprefs.")
"""The pages of it that may be read: the first by its name, those of the settings by how their names begin."""

ACTORS: Final = frozenset({"appleevent-send", "job-creation", "lsopen"})
"""To ask a program outside to act: closed unless the block names it."""

DEVICE: Final = frozenset({*READ, *LOOK, "file-write-data", "file-ioctl"} - {"file-search"})
"""What a device is for: to be read, written and controlled; never made, removed or renamed."""

STREAMS: Final = ("null", "zero", "random", "urandom", "stdin", "stdout", "stderr")
"""The devices of `minimal` that macOS has, besides the folder of descriptors, `fd`."""

TERMINALS: Final = ("tty", "ptmx")
"""Those that `standard` adds, besides terminals made by the command itself."""

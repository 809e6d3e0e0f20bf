"""Operations by what the blocks decide; all of them are in macOS 10.15 as in 14."""

READ = ("file-read*", "file-test-existence", "file-search")

WRITE = (
    "file-write*",
    "file-link",
    "file-clone",
    "file-mknod",
    "file-mount",
    "file-mount-update",
    "file-unmount",
    "file-revoke",
)
"""Change in every form; all but the first do not fall under it."""

EXEC = ("process-exec*", "file-map-executable")

OPERATIONS = (*READ, *WRITE, *EXEC)
"""What the `files` block decides."""

CONTROL = ("file-ioctl",)
"""To control a device: decided by `devices`, and denied where the device is hidden."""

LOOK = ("file-read-metadata", "file-test-existence")
"""To see that something is there, and of what kind."""

SOCKETS = ("network-outbound", "network-bind")
"""To connect to a socket, and to make one, by its path. Where the network is the host's they go by the path's access,
for no rule on files stops them."""

NETWORK = ("network*",)

PROCESSES = ("signal", "process-info*")
"""What the derived `process` block decides in every profile."""

TASKS = ("mach-priv-task-port", "mach-task-name")
"""Names of and rights to other processes' tasks: closed by a default of deny, closed by name otherwise."""

NEWER_TASKS = ("mach-task-inspect", "mach-task-read", "mach-task-special-port*")
"""Likewise, where the system has them (macOS 11 and newer); named only where it does."""

OUTSIDE_ACTORS = ("appleevent-send", "job-creation", "lsopen")
"""To ask another program to act: an Apple event, a launchd job, an open by Launch Services."""

SHARED_MEMORY = ("ipc-posix-shm*",)
"""Memory shared by name with any process of the host."""

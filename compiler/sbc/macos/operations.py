"""The operations of SBPL: which there are, and which falls under which.

Names and tree are those of macOS 14.4; the tree is inferred from the names and the order in which the system lists
them. `NEWER` are those that macOS 10.15 lacks: naming one there makes the whole profile invalid, so emitted rules do
not name them. Only data: emitter and evaluator walk the tree each in its own way.
"""

_TREE = """
default: appleevent-send authorization-right-obtain boot-arg-set device* darwin-notification-post
    distributed-notification-post dynamic-code-generation file* fs-quota* fs-rename fs-snapshot*
    generic-issue-extension qtn-user hid-control iokit* ipc* job-creation lsopen mach* necp-client-open network*
    nvram* opendirectory-user-modify process* pseudo-tty signal socket-ioctl socket-option* syscall* sysctl* system*
    user-preference* storage-class-map default-message-filter xpc-message-send
device*: device-camera device-microphone
file*: file-chroot file-clone file-ioctl file-issue-extension file-link file-lock file-map-executable file-mknod
    file-mount file-mount-update file-read* file-revoke file-search file-test-existence file-unmount file-write*
file-read*: file-read-data file-read-metadata file-read-xattr
file-write*: file-write-acl file-write-create file-write-data file-write-finderinfo file-write-flags file-write-mode
    file-write-owner file-write-setugid file-write-times file-write-unlink file-write-xattr
fs-quota*: fs-quota-get fs-quota-on fs-quota-off fs-quota-set* fs-quota-stat fs-quota-sync
fs-quota-set*: fs-quota-set-limits fs-quota-set-usage
fs-snapshot*: fs-snapshot-create fs-snapshot-delete fs-snapshot-mount fs-snapshot-revert
iokit*: iokit-get-properties iokit-issue-extension iokit-open* iokit-set-properties iokit-async-external-method
    iokit-external-method iokit-external-trap
iokit-open*: iokit-open-user-client iokit-open-service
ipc*: ipc-posix* ipc-sysv*
ipc-posix*: ipc-posix-issue-extension ipc-posix-sem* ipc-posix-shm*
ipc-posix-sem*: ipc-posix-sem-create ipc-posix-sem-open ipc-posix-sem-post ipc-posix-sem-unlink ipc-posix-sem-wait
ipc-posix-shm*: ipc-posix-shm-read-data ipc-posix-shm-write*
ipc-posix-shm-write*: ipc-posix-shm-write-create ipc-posix-shm-write-data ipc-posix-shm-write-unlink
ipc-sysv*: ipc-sysv-msg ipc-sysv-sem ipc-sysv-shm
mach*: mach-bootstrap mach-cross-domain-lookup mach-derive-port mach-host* mach-issue-extension mach-kernel-endpoint
    mach-lookup mach-priv* mach-register mach-task* mach-message-send
mach-host*: mach-host-exception-port-set mach-host-special-port-set
mach-priv*: mach-priv-host-port mach-priv-task-port
mach-task*: mach-task-inspect mach-task-name mach-task-read mach-task-special-port*
mach-task-special-port*: mach-task-special-port-get mach-task-special-port-set
network*: network-inbound network-bind network-outbound
nvram*: nvram-delete nvram-get nvram-set
process*: process-codesigning process-exec* process-fork process-info* process-legacy-codesigning*
process-exec*: process-exec-interpreter process-exec-update-label
process-info*: process-info-codesignature process-info-dirtycontrol process-info-ledger process-info-listpids
    process-info-rusage process-info-pidinfo process-info-pidfdinfo process-info-pidfileportinfo
    process-info-setcontrol
process-legacy-codesigning*: process-legacy-codesigning-blob-get process-legacy-codesigning-cdhash-get
    process-legacy-codesigning-entitlements-blob-get process-legacy-codesigning-entitlements-der-blob-get
    process-legacy-codesigning-identity-get process-legacy-codesigning-status* process-legacy-codesigning-teamid-get
    process-legacy-codesigning-text-offset-get
process-legacy-codesigning-status*: process-legacy-codesigning-status-get process-legacy-codesigning-status-set
socket-option*: socket-option-get socket-option-set
syscall*: syscall-unix syscall-mach syscall-mig
sysctl*: sysctl-read sysctl-write
system*: system-acct system-audit system-automount system-debug system-fcntl system-fsctl system-info
    system-kas-info system-kext* system-mac* system-memorystatus-control system-necp-client-action system-nfssvc
    system-package-check system-privilege system-reboot system-sched system-set-time system-socket
    system-suspend-resume system-swap
system-kext*: system-kext-load system-kext-unload system-kext-query
system-mac*: system-mac-label system-mac-syscall
user-preference*: user-preference-read managed-preference-read user-preference-write
"""


def _parents() -> dict[str, str | None]:
    parents: dict[str, str | None] = {"default": None}
    parent = "default"
    for word in _TREE.split():
        if word.endswith(":"):
            parent = word[:-1]
        else:
            parents[word] = parent
    return parents


PARENTS = _parents()
"""Each operation's parent; `default` has none."""

ALIASES = {
    "process-exec": "process-exec*",
    "ipc-posix-sem": "ipc-posix-sem*",
    "ipc-posix-shm": "ipc-posix-shm*",
    "file-unlink": "file-write-unlink",
    "system-misc": "system*",
    "time-set": "system-set-time",
    "file-write-mount": "file-mount",
    "file-write-unmount": "file-unmount",
    "file-write-umount": "file-unmount",
    "file-fsctl": "system-fsctl",
    "ipc-posix-shm-read*": "ipc-posix-shm-read-data",
    "managed-preference*": "managed-preference-read",
    "file-issue-extension*": "file-issue-extension",
    "file-issue-extension-read": "file-issue-extension",
    "file-issue-extension-write": "file-issue-extension",
    "iokit-open": "iokit-open*",
    "mach-task-special-port": "mach-task-special-port*",
}
"""Other names for operations, as macOS 10.12 to 10.15 take them."""

NO_EFFECT = frozenset({"ipc-posix-shm-read-metadata", "mach-per-user-lookup", "qtn-download", "system-chud"})
"""Names that are read and do nothing."""

OUTSIDE_DEFAULT = (
    "dynamic-code-generation",
    "file-map-executable",
    "iokit-get-properties",
    "nvram*",
    "process-info*",
    "syscall*",
)
"""Operations that `(deny default)` does not reach: they are open unless a rule names them."""

_NEWER = """
    file-lock fs-quota* fs-quota-get fs-quota-on fs-quota-off fs-quota-set* fs-quota-set-limits
    fs-quota-set-usage fs-quota-stat fs-quota-sync fs-snapshot-mount iokit-open* iokit-open-user-client
    iokit-open-service mach-bootstrap mach-derive-port mach-kernel-endpoint mach-task* mach-task-inspect
    mach-task-read mach-task-special-port* mach-task-special-port-get mach-task-special-port-set
    necp-client-open process-codesigning process-info-ledger process-legacy-codesigning*
    process-legacy-codesigning-blob-get process-legacy-codesigning-cdhash-get
    process-legacy-codesigning-entitlements-blob-get process-legacy-codesigning-entitlements-der-blob-get
    process-legacy-codesigning-identity-get process-legacy-codesigning-status*
    process-legacy-codesigning-status-get process-legacy-codesigning-status-set
    process-legacy-codesigning-teamid-get process-legacy-codesigning-text-offset-get socket-option*
    socket-option-get socket-option-set syscall* syscall-mach syscall-mig system-fcntl system-kas-info
    system-mac* system-mac-syscall system-memorystatus-control system-necp-client-action
    process-exec-update-label default-message-filter iokit-async-external-method iokit-external-method
    iokit-external-trap mach-message-send xpc-message-send
"""

NEWER = frozenset(_NEWER.split())
"""Operations of macOS 14 that 10.15 does not have."""

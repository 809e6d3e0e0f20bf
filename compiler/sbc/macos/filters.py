"""The filters of SBPL: which there are, what each looks at, and which operations have that.

Names, categories and the case table are those of macOS 10.15, with the few that later profiles use (`mac-policy-name`,
`mac-syscall-number`). Categories `process`, `system` and `extension` look at the process that asks, or at the machine:
every operation takes them. An operation that 10.15 did not have is not judged.
"""

from typing import Literal, NamedTuple

Kind = Literal["paths", "pattern", "string", "number", "bits", "truth", "address"]
"""What a filter takes: `paths`: a string that is also compared by components; `pattern`: a string with `-prefix` and
`-regex` beside it; `string`: a whole one; `number`: a number or a word for one; `bits`: the bits of a number; `truth`:
#t or #f; `address`: an address of `remote` and `local`."""

Match = Literal["literal", "prefix", "regex", "subpath"]
"""How the string is compared."""


class Fact(NamedTuple):
    """What a filter looks at: `folded` where names are compared without regard to case."""

    category: str
    kind: Kind
    folded: bool = False


FACTS: dict[str, Fact] = {
    "path": Fact("path", "paths", folded=True),
    "mount-relative-path": Fact("path", "paths", folded=True),
    "xattr": Fact("xattr", "pattern", folded=True),
    "file-mode": Fact("file-mode", "bits"),
    "ipc-posix-name": Fact("posix-ipc", "pattern", folded=True),
    "global-name": Fact("mach", "pattern"),
    "local-name": Fact("mach", "pattern"),
    "xpc-service-name": Fact("mach", "pattern"),
    "local": Fact("network", "address"),
    "remote": Fact("network", "address"),
    "control-name": Fact("network", "pattern", folded=True),
    "socket-domain": Fact("socket", "number"),
    "socket-type": Fact("socket", "number"),
    "socket-protocol": Fact("socket", "number"),
    "target": Fact("target", "number"),
    "fsctl-command": Fact("fsctl", "number"),
    "ioctl-command": Fact("ioctl", "number"),
    "iokit-registry-entry-class": Fact("iokit", "pattern", folded=True),
    "iokit-registry-entry-attribute": Fact("iokit", "number"),
    "iokit-property": Fact("iokit", "pattern"),
    "iokit-connection": Fact("iokit", "pattern"),
    "iokit-usb-interface-class": Fact("iokit", "number"),
    "iokit-usb-interface-subclass": Fact("iokit", "number"),
    "device-major": Fact("device", "number"),
    "device-minor": Fact("device", "number"),
    "device-conforms-to": Fact("device", "string", folded=True),
    "extension": Fact("extension", "string"),
    "extension-class": Fact("extension-class", "pattern"),
    "extension-path-ancestor": Fact("extension", "truth"),
    "storage-class-extension": Fact("extension", "truth"),
    "user-intent-extension": Fact("extension", "truth"),
    "appleevent-destination": Fact("ae-destination", "pattern"),
    "system-attribute": Fact("system", "number"),
    "csr": Fact("system", "number"),
    "mac-policy-name": Fact("process", "pattern"),
    "mac-syscall-number": Fact("system", "number"),
    "right-name": Fact("auth-right-name", "pattern", folded=True),
    "preference-domain": Fact("preference-domain", "pattern", folded=True),
    "vnode-type": Fact("vnode-type", "number"),
    "kext-bundle-id": Fact("kext-bundle-id", "pattern"),
    "info-type": Fact("info", "pattern"),
    "notification-name": Fact("notification", "pattern"),
    "notification-payload": Fact("notification", "truth"),
    "semaphore-owner": Fact("semaphore", "number"),
    "sysctl-name": Fact("sysctl", "pattern", folded=True),
    "process-path": Fact("process", "paths"),
    "process-attribute": Fact("process", "number"),
    "uid": Fact("process", "number"),
    "persona-type": Fact("process", "number"),
    "signing-identifier": Fact("process", "pattern"),
    "ancestor-signing-identifier": Fact("process", "pattern", folded=True),
    "require-ancestor-with-entitlement": Fact("process", "string", folded=True),
    "%entitlement-load": Fact("process", "string"),
    "%entitlement-boolean": Fact("process", "truth"),
    "%entitlement-string": Fact("process", "pattern", folded=True),
    "rootless-boot-device-filter": Fact("nvram", "truth"),
    "nvram-variable": Fact("nvram", "pattern", folded=True),
    "rootless-disk-filter": Fact("path", "truth"),
    "datavault-disk-filter": Fact("path", "truth"),
    "file-attribute": Fact("path", "number"),
    "storage-class": Fact("path", "string", folded=True),
    "privilege-id": Fact("priv", "number"),
    "host-special-port": Fact("mach-special-port", "number"),
    "filesystem-name": Fact("fs", "pattern", folded=True),
    "boot-arg": Fact("boot-arg", "pattern", folded=True),
    "signal-number": Fact("signal", "number"),
    "target-signing-identifier": Fact("target", "pattern", folded=True),
    "require-target-with-entitlement": Fact("target", "string", folded=True),
    "reboot-flags": Fact("reboot-flags", "bits"),
    "syscall-number": Fact("syscall", "number"),
    "syscall-mask": Fact("syscall", "number"),
}
"""What each filter looks at, by the filter's own name."""

OTHER_NAMES: dict[str, tuple[str, Match]] = {
    "literal": ("path", "literal"),
    "path-literal": ("path", "literal"),
    "subpath": ("path", "subpath"),
    "path-subpath": ("path", "subpath"),
    "prefix": ("path", "prefix"),
    "regex": ("path", "regex"),
    "mount-relative-literal": ("mount-relative-path", "literal"),
    "mount-relative-subpath": ("mount-relative-path", "subpath"),
    "mount-relative-regex": ("mount-relative-path", "regex"),
    "process-subpath": ("process-path", "subpath"),
    "iokit-user-client-class": ("iokit-registry-entry-class", "literal"),
    "iokit-user-client-class-prefix": ("iokit-registry-entry-class", "prefix"),
    "iokit-user-client-class-regex": ("iokit-registry-entry-class", "regex"),
    "granted-extensions": ("extension", "literal"),
    "mach-extension": ("extension", "literal"),
    "from": ("local", "literal"),
    "to": ("remote", "literal"),
}
"""Filters under other names: what they look at, and how they compare."""


def _spellings() -> dict[str, tuple[str, Match]]:
    found: dict[str, tuple[str, Match]] = {}
    for name, fact in FACTS.items():
        found[name] = (name, "literal")
        if fact.kind in ("paths", "pattern"):
            found[f"{name}-prefix"] = (name, "prefix")
            found[f"{name}-regex"] = (name, "regex")
    return found | OTHER_NAMES


SPELLINGS = _spellings()
"""Each filter as a profile writes it: what it looks at, and how it compares."""

_FILE = ("path", "file-mode", "vnode-type", "device", "fs")
OPERATION_CATEGORIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("file-ioctl", (*_FILE, "ioctl")),
    ("file-issue-extension", (*_FILE, "extension-class")),
    ("file-read-xattr", (*_FILE, "xattr")),
    ("file-write-xattr", (*_FILE, "xattr")),
    ("file", _FILE),
    ("process-exec", ("path", "file-mode", "fs")),
    ("process-info", ("target",)),
    ("process-codesigning", ("target",)),
    ("process-legacy-codesigning", ("target",)),
    ("network", ("socket", "network", "path", "file-mode", "vnode-type", "fs")),
    ("signal", ("target", "signal")),
    ("mach-cross-domain-lookup", ("mach",)),
    ("mach-lookup", ("mach",)),
    ("mach-register", ("mach",)),
    ("mach-issue-extension", ("mach", "extension-class")),
    ("mach-host-special-port-set", ("mach-special-port",)),
    ("mach-priv-task-port", ("path", "target")),
    ("mach-task", ("target",)),
    ("generic-issue-extension", ("extension-class",)),
    ("iokit", ("iokit", "extension-class")),
    ("ipc-posix-sem", ("posix-ipc", "semaphore")),
    ("ipc-posix-issue-extension", ("posix-ipc", "extension-class")),
    ("ipc-posix", ("posix-ipc",)),
    ("nvram", ("nvram",)),
    ("sysctl", ("sysctl",)),
    ("system-socket", ("socket",)),
    ("socket-ioctl", ("socket", "ioctl")),
    ("system-fsctl", ("fsctl",)),
    ("system-info", ("info",)),
    ("system-kext", ("kext-bundle-id",)),
    ("system-privilege", ("priv",)),
    ("system-reboot", ("reboot-flags",)),
    ("system-debug", ("target",)),
    ("system-sched", ("target",)),
    ("system-automount", ("path",)),
    ("system-mac", ("process", "system")),
    ("qtn-user", ("path",)),
    ("storage-class-map", ("path",)),
    ("syscall", ("syscall",)),
    ("user-preference", ("preference-domain",)),
    ("managed-preference", ("preference-domain",)),
    ("appleevent-send", ("ae-destination",)),
    ("authorization-right-obtain", ("auth-right-name",)),
    ("boot-arg-set", ("boot-arg",)),
    ("darwin-notification-post", ("notification",)),
    ("distributed-notification-post", ("notification",)),
)
"""The categories that an operation has, by the first of these that its name begins with."""

EVERYWHERE = ("extension", "process", "system")
"""Categories that every operation takes."""

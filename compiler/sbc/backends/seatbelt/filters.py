"""The filters of SBPL: which there are, what they look at, and which operations have that.

Categories are those of macOS 10.15. `process`, `system` and `extension` look at the process that asks, or the machine:
every operation takes them. An operation that 10.15 did not have is not judged.
"""

from typing import Literal

from sbc.backends.seatbelt.operations import NEWER, below

Kind = Literal["path", "string", "address", "word"]
"""What a filter's argument is: a path, a string, an address of `remote` and `local`, or a word or number."""

PATH_FILTERS = ("literal", "subpath", "path", "path-literal", "path-subpath", "path-ancestors")
"""Filters whose string is one whole path."""

_STRINGS = {
    "path": ("prefix", "regex", "path-prefix", "path-regex", "mount-relative-path"),
    "xattr": ("xattr",),
    "posix-ipc": ("ipc-posix-name",),
    "mach": ("global-name", "local-name", "xpc-service-name"),
    "network": ("control-name",),
    "sysctl": ("sysctl-name",),
    "preference-domain": ("preference-domain",),
    "nvram": ("nvram-variable",),
    "boot-arg": ("boot-arg",),
    "kext-bundle-id": ("kext-bundle-id",),
    "auth-right-name": ("right-name",),
    "notification": ("notification-name", "notification-payload"),
    "ae-destination": ("appleevent-destination",),
    "extension-class": ("extension-class",),
    "extension": ("extension", "extension-path-ancestor", "storage-class-extension", "user-intent-extension"),
    "iokit": ("iokit-registry-entry-class", "iokit-registry-entry-attribute", "iokit-property", "iokit-connection",
              "iokit-user-client-class"),
    "info": ("info-type",),
    "fs": ("filesystem-name",),
    "process": ("process-path", "signing-identifier", "ancestor-signing-identifier", "require-entitlement",
                "require-ancestor-with-entitlement", "mac-policy-name"),
    "target": ("target-signing-identifier", "require-target-with-entitlement"),
    "device": ("device-conforms-to",),
}  # fmt: skip

_WORDS = {
    "file-mode": ("file-mode",),
    "vnode-type": ("vnode-type",),
    "device": ("device-major", "device-minor"),
    "socket": ("socket-domain", "socket-type", "socket-protocol"),
    "target": ("target",),
    "signal": ("signal-number",),
    "fsctl": ("fsctl-command",),
    "ioctl": ("ioctl-command",),
    "path": ("file-attribute", "storage-class", "rootless-disk-filter", "datavault-disk-filter"),
    "priv": ("privilege-id",),
    "process": ("process-attribute", "uid", "persona-type"),
    "system": ("system-attribute", "csr", "mac-syscall-number"),
    "nvram": ("rootless-boot-device-filter",),
    "mach-special-port": ("host-special-port",),
    "reboot-flags": ("reboot-flags",),
    "semaphore": ("semaphore-owner",),
    "syscall": ("syscall-number", "syscall-mask"),
    "iokit": ("iokit-usb-interface-class", "iokit-usb-interface-subclass"),
}

_PATTERNED = ("xattr", "posix-ipc", "mach", "network", "sysctl", "preference-domain", "nvram", "notification",
              "boot-arg", "kext-bundle-id", "auth-right-name", "extension-class", "info", "iokit")  # fmt: skip
"""Categories whose names also come with `-prefix` and `-regex`."""


def _filters() -> dict[str, tuple[str, Kind]]:
    found: dict[str, tuple[str, Kind]] = dict.fromkeys(PATH_FILTERS, ("path", "path"))
    found |= {"remote": ("network", "address"), "local": ("network", "address")}
    for category, names in _STRINGS.items():
        endings = ("", "-prefix", "-regex") if category in _PATTERNED else ("",)
        for name in names:
            found.update((name + ending, (category, "string")) for ending in endings)
    for category, names in _WORDS.items():
        found.update((name, (category, "word")) for name in names)
    return found


FILTERS = _filters()
"""Each filter's category and the kind of its argument."""

COMBINING = ("require-all", "require-any", "require-not")
"""Filters of filters; the last takes exactly one."""

_FILE = ("path", "file-mode", "vnode-type", "device", "fs")
_OPERATION_PREFIXES: tuple[tuple[str, tuple[str, ...]], ...] = (
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
"""What an operation has, by the first of these that its name begins with."""

_ALWAYS = ("extension", "process", "system")


def takes(operation: str, name: str) -> bool:
    """Tell whether an operation takes a filter; one that stands for several takes what any of them does."""
    category = FILTERS[name][0]
    names = (operation, *below(operation)) if operation.endswith("*") or operation == "default" else (operation,)
    return operation in NEWER or category in _ALWAYS or any(category in _categories(one) for one in names)


def _categories(operation: str) -> tuple[str, ...]:
    for prefix, categories in _OPERATION_PREFIXES:
        if operation.startswith(prefix):
            return categories
    return ()

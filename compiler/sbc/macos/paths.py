"""Folders of macOS that have more than one name.

A filter sees the path that the kernel resolved, so a rule on another spelling of it matches nothing [observed].
"""

LINKS = (
    ("/tmp", "/private/tmp"),  # noqa: S108 (a name on macOS)
    ("/var", "/private/var"),
    ("/etc", "/private/etc"),
    ("/home", "/System/Volumes/Data/home"),
    ("/System/Volumes/Data/private", "/private"),
    ("/System/Volumes/Data/Users", "/Users"),
    ("/System/Volumes/Data/Applications", "/Applications"),
    ("/System/Volumes/Data/Library", "/Library"),
)
"""Each spelling that is never seen, and the one that is."""

"""Mach services of macOS, by what programs ask them for."""

NETWORK_SERVICES = (
    "com.apple.SystemConfiguration.DNSConfiguration",
    "com.apple.SystemConfiguration.configd",
    "com.apple.SecurityServer",
    "com.apple.networkd",
    "com.apple.ocspd",
    "com.apple.trustd",
    "com.apple.trustd.agent",
)
"""What programs with a network ask: how names are looked up, and which certificates are trusted."""

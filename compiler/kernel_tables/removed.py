"""Signatures that no tree of today defines: calls that kernels removed, and the calls of arm's private range.

The removed ones are as the last kernel that had them declared them (include/linux/syscalls.h of Linux 2.4 to 5.11);
arm's are what `arm_syscall` in arch/arm/kernel/traps.c reads.
"""

from abis import Abi
from definitions import Parameter
from signatures import Placed, place

LAST_SEEN: dict[str, tuple[str, ...]] = {
    "_sysctl": ("struct __sysctl_args * args",),
    "bdflush": ("int func", "long data"),
    "create_module": ("const char * name", "size_t size"),
    "get_kernel_syms": ("struct kernel_sym * table",),
    "query_module": ("const char * name", "int which", "void * buf", "size_t bufsize", "size_t * ret"),
    "nfsservctl": ("int cmd", "struct nfsctl_arg * arg", "void * res"),
    "vm86": ("unsigned long cmd", "unsigned long arg"),
    "rt_sigreturn": (),
    "sigreturn": (),
    "breakpoint": (),
    "usr26": (),
    "usr32": (),
    "get_tls": (),
    "set_tls": ("unsigned long val",),
    "cacheflush": ("unsigned long start", "unsigned long end", "int flags"),
}
COOKIE = ("u64 cookie64", "char * buf", "size_t len")
COOKIE_HALVES = ("u32 cookie64_lo", "u32 cookie64_hi", "char * buf", "size_t len")


def removed(call: str, abi: Abi) -> list[Placed] | None:
    """The signature of a call of this page, or None."""
    if call == "lookup_dcookie":
        return place(_read(COOKIE), _read(COOKIE_HALVES if abi.word == 32 else COOKIE), abi)
    if call not in LAST_SEEN:
        return None
    parameters = _read(LAST_SEEN[call])
    return place(parameters, parameters, abi)


def _read(texts: tuple[str, ...]) -> tuple[Parameter, ...]:
    return tuple(Parameter(ctype.strip(), name) for ctype, _, name in (text.rpartition(" ") for text in texts))

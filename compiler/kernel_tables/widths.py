"""How many bits of a register the kernel reads for each C type.

The definition macros cast a register to the C type of the parameter. `long`, pointers and the types made from them
have the word of the ABI; everything else is fixed.
"""

WORD = -1

SIGNED = {
    "int": 32, "s32": 32, "__s32": 32, "pid_t": 32, "clockid_t": 32, "timer_t": 32, "mqd_t": 32, "key_t": 32,
    "key_serial_t": 32, "rwf_t": 32, "compat_pid_t": 32, "compat_long_t": 32, "compat_ssize_t": 32,
    "compat_off_t": 32, "compat_timer_t": 32, "loff_t": 64, "compat_loff_t": 64, "long": WORD, "off_t": WORD,
    "ssize_t": WORD,
}  # fmt: skip
UNSIGNED = {
    "umode_t": 16, "old_uid_t": 16, "old_gid_t": 16, "compat_mode_t": 16, "unsigned": 32, "unsigned int": 32,
    "uint": 32, "u32": 32, "__u32": 32, "uid_t": 32, "gid_t": 32, "qid_t": 32, "compat_size_t": 32,
    "compat_ulong_t": 32, "compat_aio_context_t": 32, "enum landlock_rule_type": 32, "u64": 64, "__u64": 64,
    "unsigned long": WORD, "size_t": WORD, "uintptr_t": WORD, "aio_context_t": WORD, "old_sigset_t": WORD,
    "compat_old_sigset_t": 32,
}  # fmt: skip
POINTERS = {"cap_user_header_t": WORD, "cap_user_data_t": WORD, "__sighandler_t": WORD, "compat_uptr_t": 32}


def code(ctype: str, word: int) -> str:
    """The code of a C type: `p`, `s` or `u` (pointer, signed, unsigned) and the number of bits."""
    bare = plain(ctype)
    kind, table = "p", POINTERS
    if "*" in bare or "[" in bare:
        return f"p{word}"
    if bare not in table:
        kind, table = ("s", SIGNED) if bare in SIGNED else ("u", UNSIGNED)
    width = table[bare]
    return f"{kind}{word if width == WORD else width}"


def plain(ctype: str) -> str:
    """The type without `const` and annotations, unless it is a pointer to something constant."""
    words = ctype.replace("*", " * ").replace("__user", " ").replace("__force", " ").split()
    if "*" not in words:
        words = [word for word in words if word != "const"]
    return " ".join(words).replace("* *", "**")

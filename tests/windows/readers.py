"""What Windows programs read: command lines and environment blocks, by the documented rules and nothing of ours."""


def arguments_of(line: str, *, quote_in_quotes: bool = False) -> list[str]:
    """Split a command line as CommandLineToArgvW and the C runtime do ("Parsing C command-line arguments").

    The program's name: up to the next quote where it begins with one, else up to a blank. Then: 2n backslashes and a
    quote are n backslashes and begin or end a quoted part; 2n+1 are n and a quote; others are themselves.
    `quote_in_quotes`: two quotes inside a quoted part are one, as newer C runtimes have it.
    """
    if line.startswith('"'):
        end = line.index('"', 1)
        found, rest = [line[1:end]], line[end + 1 :]
    else:
        name = line.split(maxsplit=1)[0]
        found, rest = [name], line[len(name) :]
    place, current, quoted = 0, None, False
    while place < len(rest):
        one = rest[place]
        if one in " \t" and not quoted:
            if current is not None:
                found.append(current)
                current = None
            place += 1
            continue
        current = current or ""
        backslashes = 0
        while place < len(rest) and rest[place] == "\\":
            backslashes, place = backslashes + 1, place + 1
        if place < len(rest) and rest[place] == '"':
            current += "\\" * (backslashes // 2)
            if backslashes % 2:
                current += '"'
            elif quoted and quote_in_quotes and rest[place + 1 : place + 2] == '"':
                current += '"'
                place += 1
            else:
                quoted = not quoted
            place += 1
            continue
        current += "\\" * backslashes
        if not backslashes:
            current += one
            place += 1
    if current is not None:
        found.append(current)
    return found


def variables_of(block: bytes) -> dict[str, str]:
    """Read an environment block: texts that end with a NUL, then one more."""
    text = block.decode("utf-16-le")
    whole = text[: text.index("\0\0") + 1] if not text.startswith("\0") else ""
    return dict(one.split("=", 1) for one in whole.split("\0") if one)

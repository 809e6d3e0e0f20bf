"""Where the automaton stands when it cannot go on: what it could take, in the words of the language."""

from sbc.diagnostics.visible import shortened
from sbc.syntax.driver import Driver
from sbc.syntax.lexer import Token
from sbc.syntax.vocabulary import COMPARISONS, GLOBS, IDS, LISTING, LISTS, NAMED, PROFILE, THINGS

_MOST_WORDS = 6
"""More words than these are not listed one by one."""


class Scene:
    """What could stand at the driver's token."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        tables = driver.tables
        accepted = [name for name in tables.states[driver.states[-1]] if tables.can_take(driver.states, name)]
        texts = [tables.words[name] for name in accepted if name in tables.words]
        self.words = sorted(text for text in texts if text[0].isalpha())
        self._marks = sorted(text for text in texts if not text[0].isalpha())
        self._things = [name for name in THINGS if name in accepted]
        self._symbol, _, begun = driver.innermost()
        if begun < driver.at and _ends_statement(driver.tokens[begun]):
            begun += 1
        self._begun = driver.tokens[begun]
        self._begins = begun == driver.at
        self._ends = ";" in texts or "$END" in accepted

    def role(self) -> str | None:
        """Say what any word here would have to be, where only some words are taken."""
        if self._begins and self.words:
            return LISTS[self._symbol].role
        if self.words and not self._things and not self._ends:
            return f"known after `{shortened(self._before().text)}`"
        return None

    def named(self) -> str | None:
        """Say what a name here is the name of, after the words that take nothing else."""
        return NAMED.get(self._before().text) if "NAME" in self._things else None

    def choices(self) -> tuple[str, ...]:
        """Name what may stand here."""
        if self._begins:
            return (LISTS[self._symbol].role,)
        things = {name: THINGS[name] for name in self._things}
        if "GLOB" in things:
            things["GLOB"] = GLOBS.get(self._symbol, things["GLOB"])
        if "PATH" in things:
            things.pop("STRING", None)
        found = list(things.values())
        if len(self.words) <= _MOST_WORDS:
            found += [f"`{word}`" for word in self.words]
        marks = [mark for mark in self._marks if mark not in COMPARISONS]
        if len(marks) < len(self._marks):
            found.append("a comparison")
        if self._ends:
            found += [f"`{mark}`" for mark in marks if mark not in ("}", ";")]
            found.append("the end of the statement")
        else:
            found += [f"`{mark}`" for mark in marks if mark != "," or len(marks) == 1]
        return tuple(found)

    def advice(self, token: Token) -> str | None:
        """Say what to write instead, where that can be guessed."""
        before = self._before()
        if token.shape in ("word", "path") and "STRING" in self._things:
            if self._before().text in IDS:
                return f"write it as a number: `id -u` and `id -g` tell those of {shortened(token.text)}"
            if "PATH" in self._things:
                return "a path starts with `/`, `~/` or `${`"
            return f'write it as a string: `"{shortened(token.text)}"`' if token.text[0] != "-" else None
        if token.text == ";" and "," in self._marks:
            return "inside the `{ }` of a set blanks, newlines and commas separate"
        if self._ends and before.shape == token.shape and self._begun.text in LISTING:
            return "several stand in `{ }`"
        if token.shape != "word" and self._at(2) == "deny" and "GLOB" in self._things:
            return f"`deny` takes an errno first: `deny EPERM {before.text}`"
        return None

    def elsewhere(self, word: str) -> str | None:
        """Say where a word that is unknown here would be known."""
        openers = self._driver.tables.openers
        if word in openers[PROFILE]:
            return f"`{word}` is a block of a profile: is a `}}` missing above?"
        places = [statements.place for symbol, statements in LISTS.items() if word in openers[symbol]]
        return f"`{word}` stands in {', '.join(places)}" if places else None

    def _before(self) -> Token:
        """Give the token before, newlines apart."""
        tokens, at = self._driver.tokens, self._driver.at - 1
        return tokens[at - 1] if at and tokens[at].shape == "newline" else tokens[at]

    def _at(self, back: int) -> str:
        return self._driver.tokens[self._driver.at - back].text if self._driver.at >= back else ""


def _ends_statement(token: Token) -> bool:
    return token.shape == "newline" or token.text == ";"

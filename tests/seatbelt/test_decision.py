"""Which rule wins, what the answer says of it, and what every profile gets."""

import pytest

from tests.seatbelt.asking import asked, decision, loaded


def test_the_answer_names_the_rule() -> None:
    text = '(deny default)\n(allow file-read*\n  (subpath "/a"))\n(deny file-read*)'
    answer = asked(text, "file-read-data", "/a/b")
    assert answer.rule is not None
    assert (answer.decision, answer.operation, answer.bare) == ("allow", "file-read*", False)
    assert (answer.rule.at.source.name, answer.rule.at.line) == ("t.sb", 3)
    assert answer.rule.at.text == '(allow file-read*\n  (subpath "/a"))'
    answer = asked(text, "file-read-data", "/b")
    assert (answer.decision, answer.operation, answer.bare) == ("deny", "file-read*", True)
    answer = asked(text, "process-fork", None)
    assert (answer.decision, answer.operation, answer.bare) == ("deny", "default", True)


def test_a_rule_made_by_a_function_stands_where_it_was_made() -> None:
    text = '(define (open p)\n  (allow file-read* (literal p)))\n(open "/a")'
    rule = asked(text, "file-read-data", "/a").rule
    assert rule is not None
    assert rule.at.line == 3


@pytest.mark.parametrize(
    ("text", "operation", "target", "expected"),
    [
        # the concrete operation is asked first, whatever the order
        ('(allow file-read-data (subpath "/"))(deny file-read* (literal "/x"))', "file-read-data", "/x", "allow"),
        ('(deny file-read* (literal "/x"))(allow file-read-data)', "file-read-data", "/x", "allow"),
        # a bare rule is what is left, wherever it stands
        ('(deny file-read* (literal "/x"))(allow file-read*)', "file-read-data", "/x", "deny"),
        ('(allow file-read*)(deny file-read* (literal "/x"))', "file-read-data", "/x", "deny"),
        ("(allow file-read*)(deny file-read*)", "file-read-data", "/x", "deny"),
        ("(deny file-read*)(allow file-read*)", "file-read-data", "/x", "allow"),
        # among filtered rules the last match wins
        ('(deny file* (subpath "/a"))(allow file* (subpath "/a/b"))', "file-mount", "/a/b", "allow"),
        ('(allow file* (subpath "/a/b"))(deny file* (subpath "/a"))', "file-mount", "/a/b", "deny"),
        # up to default, and deny where nothing is found
        ("(allow default)", "file-read-data", "/x", "allow"),
        ('(allow file-read* (literal "/a"))', "file-read-data", "/x", "deny"),
        # aliases
        ("(deny default)(allow process-exec)", "process-exec*", "/bin/ls", "allow"),
        ("(deny default)(allow iokit-open)", "iokit-open-user-client", "X", "allow"),
        ("(deny default)(allow file-write-unlink)", "file-unlink", "/x", "allow"),
        # not under their neighbours' wildcard
        ("(allow default)(deny file-write*)", "file-link", "/x", "allow"),
        # out of default's reach
        ("(deny default)", "process-info-pidinfo", "others", "allow"),
        ("(deny default)", "nvram-get", "x", "allow"),
        ("(deny default)", "file-map-executable", "/x", "allow"),
        ("(deny default)(deny file*)", "file-map-executable", "/x", "deny"),
        ("(deny default)", "dynamic-code-generation", None, "allow"),
        ("(deny default)", "syscall-mach", None, "allow"),
        ("(deny default)(deny syscall*)", "syscall-unix", None, "deny"),
        ("(deny default)(deny process-info*)", "process-info-pidinfo", "self", "deny"),
        # whether rules on process* reach process-info* is open
        ("(deny default)(deny process*)", "process-info-pidinfo", "self", "SBX451"),
        ("(deny default)(allow process*)", "process-info-pidinfo", "self", "allow"),
        ("(deny default)(deny process*)(allow process-info*)", "process-info-pidinfo", "self", "allow"),
        # every profile gets these
        ("(deny default)", "signal", "self", "allow"),
        ("(deny default)(deny signal (target self))", "signal", "self", "allow"),
        ("(deny default)", "mach-task-name", "self", "allow"),
        ("(deny default)", "signal", "others", "deny"),
    ],
)
def test_precedence(text: str, operation: str, target: str | None, expected: str) -> None:
    assert decision(text, operation, target) == expected


def test_without_a_rule() -> None:
    answer = asked("", "file-read-data", "/x")
    assert (answer.decision, answer.rule, answer.operation, answer.bare) == ("deny", None, "default", False)
    answer = asked("(deny default)", "process-info-pidinfo", "others")
    assert (answer.decision, answer.rule, answer.operation, answer.bare) == ("allow", None, "process-info*", False)


def test_what_every_profile_gets_cannot_be_taken_over() -> None:
    answer = asked("(define allow deny)(define self others)", "signal", "self")
    assert answer.rule is not None
    assert (answer.decision, answer.rule.at.source.name) == ("allow", "<every profile>")


def test_modifiers_change_nothing_and_are_told() -> None:
    answer = asked("(deny default)(allow process-exec (with no-sandbox))", "process-exec*", "/bin/ls")
    assert answer.decision == "allow"
    assert [one.name for one in answer.modifiers] == ["no-sandbox"]
    assert asked("(deny default (with report))", "process-fork", None).decision == "deny"


def test_parameters() -> None:
    profile = loaded('(version 1)(define p (param "P"))(if p (allow file-read* (subpath p)))', {"P": "/a"})
    assert len(profile.rules) == 3
    assert len(loaded('(version 1)(define p (param "P"))(if p (allow file-read* (subpath p)))').rules) == 2


def test_a_trace_is_kept() -> None:
    assert loaded('(version 1)(trace "/private/tmp/x.sb")').trace == "/private/tmp/x.sb"

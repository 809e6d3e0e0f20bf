"""The Scheme that profiles are written in."""

import pytest

from tests.seatbelt.asking import place, refusal, rules


def paths(text: str) -> list[str]:
    """Give the paths of all rules, in order: what a program computed, as the rules show it."""
    found: list[str] = []
    for rule in rules(text):
        for one in rule.filters:
            found += [pattern.value for pattern in one.patterns]  # type: ignore[attr-defined]  # pyright: ignore
    return found


def value(expression: str, before: str = "") -> str:
    """Give a string that an expression computes."""
    (path,) = paths(f"{before} (allow file-read* (literal {expression}))")
    return path


def yes(expression: str, before: str = "") -> bool:
    return value(f'(if {expression} "yes" "no")', before) == "yes"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('(string-append "/a" "/" "b")', "/a/b"),
        ('(let ((a "/a") (b "/b")) (string-append a b))', "/a/b"),
        ('(let* ((a "/a") (b (string-append a "/b"))) b)', "/a/b"),
        ('(letrec ((f (lambda (n) (if (= n 0) "end" (g n)))) (g (lambda (n) (f (- n 1))))) (f 5))', "end"),
        ('(let loop ((n 3) (s "")) (if (= n 0) s (loop (- n 1) (string-append s "x"))))', "xxx"),
        ('((lambda (a . rest) (apply string-append rest)) "a" "b" "c")', "bc"),
        ('((lambda all (apply string-append all)) "a" "b")', "ab"),
        ('(cond (#f "a") ((= 1 1) "b") (else "c"))', "b"),
        ('(cond ((assoc "k" (list (cons "k" "v"))) => cdr) (else "no"))', "v"),
        ('(cond (#f "a") (else "c"))', "c"),
        ('(case 3 ((1 2) "low") ((3 4) "mid") (else "high"))', "mid"),
        ('(case \'b ((a) "a") (else "other"))', "other"),
        ('(when #t "a" "b")', "b"),
        ('(unless #f "a" "b")', "b"),
        ('(begin "a" "b")', "b"),
        ('(and 1 "b")', "b"),
        ('(or #f "b")', "b"),
        ('(apply string-append (map (lambda (a b) (string-append a b)) (list "a" "b") (list "1" "2")))', "a1b2"),
        ('(apply string-append "x" (reverse (list "a" "b")))', "xba"),
        ("(symbol->string 'word)", "word"),
        ("(symbol->string (car '(a b)))", "a"),
        ('(number->string (+ (string->number "40") (* 2 3) (- 4)))', "42"),
        ('(substring "/usr/lib" 4 8)', "/lib"),
        ('(list->string (reverse (string->list "abc")))', "cba"),
        ("(string #\\a #\\b)", "ab"),
        ('(regex-quote "a.b[c]")', "a\\.b\\[c]"),
        ("(let ((l (filter (lambda (x) (> x 1)) (list 1 2 3)))) (number->string (length l)))", "2"),
        ('(foldr string-append "" (list "a" "b"))', "ab"),
        ('(list-ref (list "a" "b") 1)', "b"),
        ('(caddr (list "a" "b" "c"))', "c"),
        ('(number->string (_IO "h" 47))', "26671"),
        ('(string-append "\\xc3" "\\xa9")', "é"),
        ('(number->string (string-length "é"))', "2"),
        ('(if "" "true" "false")', "true"),
        ('(if \'() "true" "false")', "true"),
    ],
)
def test_values(expression: str, expected: str) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('(string=? "a" "a")', True),
        ('(string<? "a" "b")', True),
        ('(string-ci=? "A" "a")', True),
        ('(equal? \'(1 (2 "x")) (list 1 (list 2 "x")))', True),
        ("(eqv? 1 #t)", False),
        ("(not 0)", False),
        ("(< 1 2 3)", True),
        ("(defined? 'file-read*)", True),
        ("(defined? 'file-frobnicate)", False),
        ("(defined? 'SYS_open)", True),
        ("(null? (cdr (list 1)))", True),
        ("(procedure? allow)", True),
        ('(char=? #\\/ (string-ref "/a" 0))', True),
        ("(= (quotient -7 2) -3)", True),
        ("(= (remainder -7 2) -1)", True),
        ("(memv 2 '(1 2))", True),
        ('(member "b" \'("a"))', False),
        ('(param "X")', False),
    ],
)
def test_truths(expression: str, *, expected: bool) -> None:
    assert yes(expression) == expected


def test_definitions() -> None:
    assert value("x", '(define x "/a") (define x "/b")') == "/b"
    assert value("(f)", '(define x "/a") (define (f) x) (set! x "/c")') == "/c"
    assert value('(f "/b")', '(define (f a) (define b (string-append a "/c")) b)') == "/b/c"
    assert value('(f "a" "b" "c")', "(define (f a . r) (apply string-append r))") == "bc"
    assert value("(counter)", '(define n "") (define (counter) (set! n (string-append n "i")) n) (counter)') == "ii"


def test_macros() -> None:
    unless = "(macro (twice form) `(begin ,(cadr form) ,(cadr form)))"
    assert paths(f'{unless} (twice (allow file-read* (literal "/a")))') == ["/a", "/a"]
    both = "(define-macro (both . l) `(begin ,@(map (lambda (p) (list 'allow 'file-read* (list 'literal p))) l)))"
    assert paths(f'{both} (both "/a" "/b")') == ["/a", "/b"]
    assert value("(car `(,x ,@(list 1 2) . 3))", '(define x "/a")') == "/a"
    assert yes("(equal? `(1 `(2 ,(3 ,(+ 1 3)))) '(1 (quasiquote (2 (unquote (3 4))))))")
    assert yes("(equal? `(1 . ,(+ 1 1)) (cons 1 2))")


def test_operations_are_values() -> None:
    text = '(define ops (list file-read* file-write*)) (apply allow (append ops (list (literal "/a"))))'
    (rule,) = rules(text)
    assert rule.operations == ("file-read*", "file-write*")


def test_rules_take_their_parts_in_any_order() -> None:
    (rule,) = rules('(deny (with no-log) (literal "/a") file-read* (with message "x") file-ioctl)')
    assert (rule.action, rule.operations) == ("deny", ("file-read*", "file-ioctl"))
    assert [(one.name, one.argument) for one in rule.modifiers] == [("no-report", None), ("message", "x")]


def test_names_without_effect_make_no_rule() -> None:
    assert rules("(allow mach-per-user-lookup)") == ()


def test_library_macros() -> None:
    text = """
    (with-filter (subpath "/a") (allow file-read* (literal "/a/b") (literal "/c")) (deny file-write*))
    (with-modifier (with no-log) (deny file-ioctl))
    (with-operations (file-read* file-ioctl) (allow file-write* (literal "/d")))
    (allow file-map-executable)
    """
    first, second, third, fourth, fifth = rules(text)
    assert first.filters[0].name == "require-all"
    assert second.filters[0].name == "subpath"
    assert third.modifiers[0].name == "no-report"
    assert fourth.operations == ("file-write*", "file-read*", "file-ioctl")
    assert fifth.filters == ()
    assert fifth.modifiers == ()


def test_directives() -> None:
    assert rules('(debug deny) (trace "/private/tmp/t") (version 1) (allow default)')[0].operations == ("default",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(version 1)\n(alow default)", ("SBX441", 2, 2)),
        ("(version 1)\n(allow file-reed*)", ("SBX441", 2, 8)),
        ('(version 1)\n(allow file-read* (sub "/a"))', ("SBX441", 2, 20)),
        ("(version 1)\n(allow file-read* (with no-lag))", ("SBX441", 2, 25)),
        ('(version 1)\n(allow file-read*\n  (subpath (param "X")))', ("SBX443", 3, 12)),
        ("(version 1)(allow file-read* (literal 3))", ("SBX442", 1, 39)),
        ("(version 1)(allow)", ("SBX442", 1, 12)),
        ("(version 1)(allow network-outbound 123)", ("SBX442", 1, 36)),
        ("(version 1)(allow file-read* (require-not))", ("SBX442", 1, 30)),
        ('(version 1)(allow file-read* (require-not (literal "/a") (literal "/b")))', ("SBX442", 1, 30)),
        ("(version 1)(allow file-read* (require-all))", ("SBX442", 1, 30)),
        ('(version 1)(allow mach-lookup (literal "/a"))', ("SBX444", 1, 31)),
        ('(version 1)(allow file-read* (global-name "a"))', ("SBX444", 1, 30)),
        ("(allow default)", ("SBX445", 1, 1)),
        ("(version 2)", ("SBX445", 1, 10)),
        ('(version "1")', ("SBX442", 1, 10)),
        ("", ("SBX445", 1, 1)),
        ('(version 1)(allow file-read* (regex "("))', ("SBX446", 1, 37)),
        ('(version 1)(allow network* (remote tcp "example.com:80"))', ("SBX442", 1, 40)),
        ('(version 1)(allow network* (remote "localhost:80"))', ("SBX442", 1, 36)),
        ('(version 1)(allow network* (remote tcp "localhost:65536"))', ("SBX442", 1, 40)),
        ("(version 1)(allow signal (target them))", ("SBX441", 1, 34)),
        ("(version 1)(allow signal (target DIRECTORY))", ("SBX442", 1, 34)),
        ('(version 1)(error "no" 3)', ("SBX449", 1, 12)),
        ('(version 1)(import "x.sb")', ("SBX448", 1, 20)),
        ('(version 1)("a")', ("SBX442", 1, 12)),
        ("(version 1)((lambda (a) a))", ("SBX442", 1, 12)),
        ("(version 1)(let ((a 1) (a 2)) a)", ("SBX442", 1, 17)),
        ("(version 1)(set! nothing 3)", ("SBX442", 1, 18)),
        ("(version 1)(car '())", ("SBX442", 1, 17)),
        ("(version 1)(quotient 1 0)", ("SBX442", 1, 24)),
        ('(version 1)(string->number "x")', ("SBX442", 1, 28)),
        ("(version 1)(trace 3)", ("SBX442", 1, 19)),
        ('(version 1)(trace "a")(trace "b")', ("SBX442", 1, 23)),
        ("(version 1)(with-filter 3 (allow default))", ("SBX442", 1, 25)),
        ("(version 1)(call/cc 1)", ("SBX441", 1, 13)),
    ],
)
def test_refusals_have_their_place(text: str, expected: tuple[str, int, int]) -> None:
    assert place(text) == expected


def test_suggestions() -> None:
    assert refusal("(version 1)(allow file-reed*)").help() == "did you mean `file-read*`?"
    assert "operation" in refusal("(version 1)(allow file-reed*)").title()
    assert "filter" in refusal('(version 1)(allow file-read* (supath "/a"))').title()

"""Profiles that mean harm end soon, in one error with a place."""

import time
from pathlib import Path

import pytest

from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load
from tests.seatbelt.asking import refusal

_LIST = "(define (g n l) (if (= n 0) l (g (- n 1) (append l l)))) (define l (g 16 '(1 2 3)))"

ENDLESS = {
    "calls": "(define (f) (f)) (f)",
    "waits": "(define (f n) (+ 1 (f n))) (f 1)",
    "a macro of itself": "(macro (m form) form) (m)",
    "strings": '(define (f s) (f (string-append s s))) (f "aaaaaaaa")',
    "lists": "(define (f s) (f (append s s))) (f '(1 2 3))",
    "numbers": "(define (f x) (f (* x x))) (f 10)",
    "rules": "(define (f) (allow file-read*) (f)) (f)",
    "a macro's nested code": "(define (f x) (f (list 'begin x))) (macro (m form) (f 1)) (m)",
    "nested templates": "(define (f x) (f (list 'quasiquote (list x)))) (macro (m form) (f 1)) (m)",
    "nested data": "(define (f x n) (if (= n 0) x (f (list x) (- n 1)))) (equal? (f 1 40000) (f 1 40000))",
    "shared filters": '(define (f x n) (if (= n 0) x (f (require-all x x) (- n 1)))) (f (literal "/a") 60)',
    "nested filters": '(define (f x) (f (require-not x))) (f (literal "/a"))',
    "nested with-filter": '(define (f) (with-filter (literal "/a") (f))) (f)',
    "nested map": "(define (f n) (map f '(1 2 3 4))) (f 1)",
    "regular expressions": '(define s "(a*)*(a*)*(a*)*(a*)*(a*)*") (define (f) (regex s) (f)) (f)',
    "looking at a long list": f"{_LIST} (define (f) (length l) (f)) (f)",
    "looking at a long list that is none": f"{_LIST} (define m (append l 5)) (define (f) (list? m) (f)) (f)",
    "comparing long lists": f"{_LIST} (define m (append l (list))) (define (f) (equal? l m) (f)) (f)",
    "searching a long list": f"{_LIST} (define (f) (member 7 l) (f)) (f)",
    "a long form": f"(define (f) (or 1 {'x ' * 100_000}) (f)) (f)",
    "a long form that a macro made": f"{_LIST} (define c (cons 'or l)) (macro (m form) c) (define (f) (m) (f)) (f)",
    "long strings": '(define (g n s) (if (= n 0) s (g (- n 1) (string-append s s)))) (define (f) (g 9 "aaaa") (f)) (f)',
    "names around names": "(define (f g) (f (lambda () g))) (f 1)",
    "ancestors": '(define (f s) (path-ancestors s) (f (string-append s s))) (f "/a/a/a/a/a/a")',
}


@pytest.mark.parametrize("name", ENDLESS)
def test_it_ends(name: str) -> None:
    started = time.process_time()
    one = refusal("(version 1)" + ENDLESS[name])
    assert time.process_time() - started < 20
    assert one.code in ("SBX447", "SBX442")
    assert one.span is not None


@pytest.mark.parametrize("text", ["(" * 200_000, "'" * 200_000, ")" * 10, "9" * 200_000, "#x" + "f" * 200_000, '"' * 9])
def test_hostile_text_is_refused(text: str) -> None:
    assert refusal(text).span is not None


def test_a_text_over_a_mebibyte_is_refused() -> None:
    assert refusal(" " * (1 << 20) + "a").code == "SBX447"


def test_an_answer_has_a_budget() -> None:
    program = (
        '(version 1)(define (f n l) (if (= n 0) l (f (- n 1) (cons (require-not (regex #"(.*)(.*)(.*)x$")) l))))'
        '(allow file-read* (apply require-all (f 3000 (list (literal "/q")))))'
    )
    with pytest.raises(Failed) as failed:
        decide(load(Source("t.sb", program)), "file-read-data", "/" + "a" * 4000)
    assert failed.value.diagnostics[0].code == "SBX447"


@pytest.mark.parametrize("name", ["/dev/zero", "/", "nowhere.sb", "../x.sb", ""])
def test_what_cannot_be_imported(name: str, tmp_path: Path) -> None:
    with pytest.raises(Failed) as failed:
        load(Source("t.sb", f'(version 1)(import "{name}")'), import_folder=tmp_path)
    assert failed.value.diagnostics[0].code == "SBX448"


def test_an_absolute_path_is_imported_from_the_folder_alone(tmp_path: Path) -> None:
    """Or a profile of others would have any file of the caller's shown, by the error in it."""
    (tmp_path / "a.sb").write_text("(allow file-read*)")
    (tmp_path / "in").mkdir()
    text = Source("t.sb", f'(version 1)(import "{tmp_path / "a.sb"}")')
    assert len(load(text, import_folder=tmp_path).rules) > len(load(Source("t.sb", "(version 1)")).rules)
    for folder in (None, tmp_path / "in"):
        with pytest.raises(Failed) as failed:
            load(text, import_folder=folder)
        assert failed.value.diagnostics[0].code == "SBX448"
    with pytest.raises(Failed) as failed:
        load(Source("t.sb", '(version 1)(import "/proc/self/environ")'))
    assert failed.value.diagnostics[0].code == "SBX448"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Failed):
        load(Source("t.sb", '(version 1)(import "pipe")'), import_folder=tmp_path)
    with pytest.raises(Failed):
        load(tmp_path / "pipe")


def test_an_import_of_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "a.sb").write_text('(import "a.sb")')
    with pytest.raises(Failed) as failed:
        load(Source("t.sb", '(version 1)(import "a.sb")'), import_folder=tmp_path)
    assert failed.value.diagnostics[0].code == "SBX447"


def test_an_error_in_an_imported_file_stands_there(tmp_path: Path) -> None:
    (tmp_path / "a.sb").write_text("\n(alow default)")
    with pytest.raises(Failed) as failed:
        load(Source("t.sb", '(version 1)(import "a.sb")'), import_folder=tmp_path)
    span = failed.value.diagnostics[0].span
    assert span is not None
    assert (span.source.name, span.line) == ("a.sb", 2)

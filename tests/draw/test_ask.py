"""`ask`: questions whose answer is hidden until the reader has answered."""

import pytest

from gpukit import draw
from tests.conftest import ROOT
from tests.draw.shown import javascript

WHY = "Because `a < b` is so </script><b>always</b>."
CHOSEN = {"right": 2, "because": WHY}
QUESTION, CHOICES = "How many threads run for `n = 1000`?", ["1,000", "1,008", "1,024"]


@pytest.fixture
def choice():
    return draw.ask(QUESTION, CHOICES, **CHOSEN)


@pytest.fixture
def number():
    return draw.ask("How many are idle?", answer=24, because=WHY, unit="threads")


def test_text_contains_the_question_and_the_choices_but_no_answer(choice):
    assert repr(choice) == (
        "How many threads run for n = 1000?\n  ( ) 1,000\n  ( ) 1,008\n  ( ) 1,024"
    )


def test_text_of_a_number_question_is_only_the_question(number):
    assert repr(number) == "How many are idle?"


def test_jupyter_gets_html_and_text(choice):
    assert choice._repr_mimebundle_() == {"text/html": choice.html, "text/plain": choice.words}


def test_html_is_the_same_text_each_time(choice):
    assert choice.html == draw.ask(QUESTION, CHOICES, **CHOSEN).html


def test_html_fetches_nothing(choice):
    assert "http" not in choice.html


def test_reason_cannot_end_the_script(choice):
    assert choice.html.count("</script>") == 1


SEALED = draw.seal(**CHOSEN)


def test_sealed_question_is_the_same_as_the_plain_one(choice):
    assert draw.ask(QUESTION, CHOICES, sealed=SEALED).html == choice.html


def test_sealed_answer_may_be_a_number_that_is_only_nearly_right(number):
    sealed = draw.seal(answer=0.5, within=0.1, because=WHY)
    plain = draw.ask("How much?", answer=0.5, within=0.1, because=WHY, unit="s")
    assert draw.ask("How much?", sealed=sealed, unit="s").html == plain.html


def test_sealed_answer_cannot_be_read():
    assert "always" not in SEALED


def test_what_seal_did_not_make_is_rejected():
    with pytest.raises(ValueError, match=r"what draw\.seal returns, got 'because it is so'"):
        draw.ask(QUESTION, CHOICES, sealed="because it is so")


@pytest.mark.parametrize("told", [{}, {"right": 1, "answer": 2}])
def test_without_exactly_one_answer_nothing_is_sealed(told):
    with pytest.raises(ValueError, match="seal: expected right= or answer="):
        draw.seal(because=WHY, **told)


def test_a_question_without_a_reason_is_rejected():
    with pytest.raises(ValueError, match="expected because="):
        draw.ask(QUESTION, CHOICES, right=1)


def test_an_answer_beside_a_sealed_one_is_rejected():
    with pytest.raises(ValueError, match="sealed= alone"):
        draw.ask(QUESTION, CHOICES, sealed=SEALED, right=1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"choices": ["a", "b"], "right": 2},
        {"choices": ["a", "b"], "right": -1},
        {"choices": ["a", "b"]},
        {"choices": ["a", "b"], "right": 0, "answer": 3},
        {},
        {"answer": 3, "right": 0},
        {"answer": 3, "within": -1},
    ],
)
def test_question_without_exactly_one_answer_is_rejected(wrong):
    with pytest.raises(ValueError, match="ask: expected"):
        draw.ask("Which?", because="So it is.", **wrong)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("24", 24),
        (" 1,024 ", 1024),
        ("1 000", 1000),
        ("1_000", 1000),
        ("1e3", 1000),
        ("-0.5", -0.5),
        ("12.5 %", 12.5),
        ("", None),
        ("many", None),
        ("2 threads", None),
    ],
)
@pytest.mark.costly
def test_number_is_parsed_in_common_notations(typed, value):
    assert javascript("ask.js", f"parseNumber({typed!r})") == value


@pytest.mark.parametrize(("typed", "verdict"), [("23", True), ("22", False), ("25", True)])
def test_number_within_tolerance_is_right(typed, verdict):
    assert javascript("ask.js", f"isRight({typed}, 24, 1)") == verdict


def test_answer_is_not_in_the_page_before_the_reader_answers(shown, choice):
    page = shown(choice)
    assert "Because" not in page.text()
    assert page.page.get_by_text("look").is_hidden()


def test_wrong_choice_by_keyboard_shows_why_it_is_wrong(shown, choice):
    page = shown(choice)
    page.press("Tab", "Enter")
    assert "Not so. It is: 1,024. Because a < b is so </script><b>always</b>." in page.text()


def test_first_answer_counts(shown, choice):
    page = shown(choice)
    page.press("Tab", "Tab", "Tab", "Space", "Shift+Tab", "Enter")
    assert "Right: 1,024." in page.text()


def test_number_is_submitted_with_enter(shown, number):
    page = shown(number)
    page.press("Tab", *"24", "Enter")
    assert "Right: 24 threads. Because" in page.text()


def test_no_page_for_notebooks_has_a_form():
    """Lab stops the Enter key of forms, and the sandbox of the player's frame every form."""
    sources = [f for f in (ROOT / "gpukit").rglob("*") if f.suffix in (".js", ".html")]
    texts = {file.name: file.read_text(encoding="utf-8") for file in sources}
    assert "ask.js" in texts
    assert [name for name, text in texts.items() if "<form" in text or 'make("form"' in text] == []


def test_text_that_is_not_a_number_is_ignored(shown, number):
    page = shown(number)
    page.press("Tab", *"lots", "Enter")
    assert "Type a number first." in page.text()
    assert "Because" not in page.text()


def test_complaint_about_an_entry_goes_when_the_entry_changes(shown, number):
    page = shown(number)
    page.press("Tab", *"lots", "Enter", "Backspace")
    assert "Type a number first." not in page.text()


def test_an_answer_stays_when_the_page_is_loaded_again(shown, choice, number):
    for widget, keys in (choice, ("Tab", "Enter")), (number, ("Tab", *"7", "Enter")):
        page = shown(widget)
        page.press(*keys)
        before = page.text()
        page.page.reload()
        assert "Not so." in before
        assert page.text() == before


def test_a_question_can_be_answered_again(shown, number):
    page = shown(number)
    page.press("Tab", *"7", "Enter")
    page.page.get_by_role("button", name="Answer again").click()
    assert "Because" not in page.text()
    page.press(*"24", "Enter")
    assert "Right: 24 threads." in page.text()


def test_question_is_the_accessible_name_of_its_controls(shown, choice, number):
    assert shown(choice).page.get_by_role("group", name="How many threads run").is_visible()
    assert shown(number).page.get_by_role("textbox", name="How many are idle?").is_visible()


def test_console_stays_empty(shown, choice):
    page = shown(choice)
    page.press("Tab", "Enter")
    assert page.console == []


def test_answer_is_folded_without_javascript(shown, choice):
    page = shown(choice, java_script_enabled=False)
    assert page.page.get_by_text("Answer yourself first").is_visible()
    assert page.page.get_by_text("Because").is_hidden()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_follow_the_surrounding_page(shown, choice, theme):
    assert shown(choice, theme=theme).page.locator(".card").get_attribute("data-scheme") == theme

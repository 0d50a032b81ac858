"""Letters are read where an answer states them, and nowhere else."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import ItemError, UnscoredReason
from basanite.judges import read_letter_list, read_letters
from support.choices import OPTIONS


def read(text: str, options: dict[str, str] = OPTIONS) -> str:
    """The letters in one text, or the reason why there are none."""
    try:
        return "".join(read_letters(text, options)) or "-"
    except ItemError as error:
        assert error.reason is not UnscoredReason.INVALID_ROW
        return error.reason.value


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        *(("A, C", "AC"), ("A,C", "AC"), ("AC", "AC"), ("A C", "AC"), ("A/C", "AC")),
        *(("(a) and (c)", "AC"), ("A, B, and C", "ABC"), ("(A)(C)", "AC"), ("a", "A")),
        *(
            ("B.", "B"),
            ("B)", "B"),
            ("**B**", "B"),
            ("“B”", "B"),
            ("Ａ，Ｃ", "AC"),
            ("[A, C]", "AC"),
        ),
        *(('["A", "C"]', "AC"), ("[]", "-"), ('{"answer": ["B"]}', "B"), ("['A', 'C']", "AC")),
        *(("A, A", "A"), ("Option B", "B"), ("Answer B", "B"), ("Both A and C", "AC")),
        *(("B) T and B cells", "B"), ("B - T and B cells", "B"), ("T and B cells", "B")),
        *(("six", "D"), ("A) alpha macrophages\nD) Six", "AD"), ("- A\n- D", "AD")),
        *(("none", "-"), ("None of the above.", "-"), ("None of the options is correct", "-")),
        *(("all of the above", "ABCD"), ("\\boxed{B}", "B"), ("$\\boxed{\\text{A, C}}$", "AC")),
        ('```json\n["A"]\n```', "A"),
    ],
)
def test_an_answer_that_is_a_list(text: str, letters: str) -> None:
    assert read(text) == letters


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        *(("Answer: B", "B"), ("**Answer:** B, D", "BD"), ("**Final Answer**: B", "B")),
        *(("The correct answers are A and C.", "AC"), ("Correct answer(s): A, C", "AC")),
        *(("The final answer is **B) T and B cells**.", "B"), ("Answer: Options B and D", "BD")),
        *(("I would choose B and D.", "BD"), ("I choose option (d)", "D"), ("Answer: none", "-")),
        *(("Answer:\n- A) alpha macrophages\n- D) Six", "AD"), ("Answer: A\nC", "AC")),
        *(("The answer is T and B cells.", "B"), ("Answer: (D) half a dozen of them", "D")),
        *(("Answer: B because A is wrong", "B"), ("Answer: B. A is wrong, for C rises.", "B")),
        *(("So \\boxed{B, C} it is", "BC"), ("Thinking… <answer>A</answer>", "A")),
        ("My answer to question 3 is C", "C"),
        *(("### Final Answer\nB", "B"), ("The answer must be A", "A"), ("Answer: B only", "B")),
        *(("Choice: B", "B"), ("Answer: D = six", "D"), ("<think>Answer: A.</think>\nB", "B")),
        ("B, D\n\nExplanation: both increase while A decreases.", "BD"),
        ("Based on my analysis, options B and D are correct.", "BD"),
        *(("Answer: B (not A)", "B"), ("Answer: B (lymphocytes), D (half a dozen)", "BD")),
        *(
            ("Answer: A\nB\nConfidence: 3", "AB"),
            ("Answer:\n\nA) alpha macrophages\n\nD) Six", "AD"),
        ),
        *(("<answer>A\nC</answer>", "AC"), ("<solution>Long text.\nAnswer: D</solution>", "D")),
        ("First I thought.\nAnswer: A\nThen I looked.\nFinal answer: B", "B"),
        ("A) alpha macrophages\nB) T and B cells\nC) VCAN⁺ (gamma) macrophages\nAnswer: C", "C"),
        ("A is right about mice. The incorrect answer is C. The correct answer: D", "D"),
        ("It could be many.\n\nB, D", "BD"),
        ("I rule out the answer: A. The answer: B", "B"),
        ("Looking at the clusters:\n**B**", "B"),
        *(("A and C are correct.", "AC"), ("Thus, option B is the correct answer.", "B")),
        ("B) T and B cells. They expand after therapy.", "B"),
    ],
)
def test_the_last_statement_counts(text: str, letters: str) -> None:
    assert read(text) == letters


@pytest.mark.parametrize(
    "text",
    [
        "A cell is a unit of life",
        "Vitamin C",
        "B cells and T cells",
        "A. thaliana grows",
        "option A is wrong, so B",
        "It is A",
        "I don't know",
        "no answer",
        "nothing",
        "ABBA",
        "Answer: A or B",
        "The answer is not A.",
        "The answer could be A",
        "The answer is B cells",
        "The answer isn't A",
        "Answer: neither A nor B",
        "Answer: B. Or maybe C.",
        "Answer: B. Actually, it is C.",
        "Answer: A. And C.",
        "Answer: A, not B",
        "Answer: A-C",
        "Answer: B – lymphocytes, D – half a dozen",
        "<answer>A or B</answer>",
        "Answer: A\nText.\n\nC",
        "Answer: B. C is correct.",
        "Answer: B. C is also correct.",
        "Answer: A. thaliana",
        "A is correct. C is correct.",
        "If this holds, A is correct.",
        "The incorrect answer is A",
        "I would rule out the answer: A",
        "Ruled-out answers: A, C",
        "We exclude this answer: A",
        "That can't be the correct answer: A",
        "Alternative answer: C",
        "The options are A, B, C, D.",
        "We compared it with group\nA",
        "B\nD rises too",
        "A\n\nAnswer: C or D",
        "B) T and B cells are wrong",
        "A) alpha macrophages. Wrong.\nB) T and B cells. Right.",
        "A) yes\nB) no",
        "Answer: A\nNo. The correct options are:\n- B) lymphocytes: up\n- D) half a dozen: up",
        "The answer is a mixture of A and C",
        "Is it A? B?",
        "E",
        "A, E",
        "AE",
        "Answer: E",
        "{}",
        '{"answer": 1}',
        "Answer: " + "A, " * 2000 + "C or D",
    ],
)
def test_what_is_not_clear_is_not_guessed(text: str) -> None:
    assert read(text) == "ambiguous_choice"


def test_a_blank_answer_has_its_own_reason() -> None:
    assert read(" \n\t") == "empty_answer"


def test_a_letter_beyond_the_options_is_named() -> None:
    with pytest.raises(ItemError, match=r"E is not among the options \(A, B, C, D\)"):
        read_letters("Answer: B, E", OPTIONS)


def test_words_for_none_and_all_are_options_where_options_say_so() -> None:
    options = {"A": "one", "B": "None of the above", "C": "All of the above"}
    assert [read(text, options) for text in ("none", "Answer: none of these", "all")] == [
        *("B", "B", "C")
    ]
    assert read("[]", options) == "-"
    assert read("none of these", options | {"D": "none"}) == "ambiguous_choice"


def test_texts_of_options_that_look_like_letters() -> None:
    options = {"A": "B", "B": "A", "C": "Both A and B"}
    assert [read(text, options) for text in ("A", "B", "Both A and B", "A) B")] == list("ABCA")
    assert read("twin", {"A": "twin", "B": "Twin."}) == "ambiguous_choice"


def test_a_truth_is_read_strictly() -> None:
    assert read_letter_list(" B,D\n", OPTIONS) == ("B", "D")
    assert read_letter_list("none", OPTIONS) == ()
    for text in ("Answer: B", "B is correct.", "A or B", "B, E", "maybe B", ""):
        with pytest.raises(ItemError) as caught:
            read_letter_list(text, OPTIONS)
        assert caught.value.reason is UnscoredReason.INVALID_ROW


LETTERS = st.sets(st.sampled_from("ABCDEFGH"), min_size=1).map(sorted)
EIGHT = {letter: f"option text number {n}" for n, letter in enumerate("ABCDEFGH")}
SEPARATORS = st.sampled_from([",", ", ", " , ", ";", " and ", " & ", "/", " ", "\n", ", and "])
MARKS = st.sampled_from(["{}", "({})", "{}.", "{})", "[{}]", '"{}"', "**{}**"])
FRAMES = st.sampled_from(
    [
        *("{}", " {} \n", "Answer: {}", "The correct answers are {}", "Final answer: **{}**"),
        *("I looked at it all.\n\nFinal answer: {}", "Answer: {}\n\nThis follows from Figure 2."),
        *("Answer: A, B, C, D, E\nNo.\nFinal answer: {}", "I'd go with {}", "<answer>{}</answer>"),
    ]
)


@given(letters=LETTERS, data=st.data())
def test_every_way_of_writing_a_set_reads_back(letters: list[str], data: st.DataObject) -> None:
    order = data.draw(st.permutations(letters))
    marks, separator = data.draw(MARKS), data.draw(SEPARATORS)
    lower = "." not in marks and data.draw(st.booleans())
    written = separator.join(marks.format(one.lower() if lower else one) for one in order)
    assert read(data.draw(FRAMES).format(written), EIGHT) == "".join(letters)


@given(letters=LETTERS, data=st.data())
def test_options_written_out_read_back(letters: list[str], data: st.DataObject) -> None:
    order = data.draw(st.permutations(letters))
    label = data.draw(st.sampled_from(["{}) {}", "({}) {}", "- {}: {}", "{}. {}", "{} - {}"]))
    lines = "\n".join(label.format(one, EIGHT[one].upper()) for one in order)
    frame = data.draw(st.sampled_from(["{}", "Answer:\n{}", "Text before.\n\nFinal answer:\n{}"]))
    assert read(frame.format(lines), EIGHT) == "".join(letters)
    assert read(json.dumps([EIGHT[one] for one in order]), EIGHT) == "".join(letters)


@given(st.text(max_size=200), st.sampled_from([OPTIONS, EIGHT]))
def test_what_was_read_reads_back(text: str, options: dict[str, str]) -> None:
    try:
        letters = read_letters(text, options)
    except ItemError as error:
        assert error.reason in {UnscoredReason.AMBIGUOUS_CHOICE, UnscoredReason.EMPTY_ANSWER}
        return
    assert set(letters) <= set(options)
    assert list(letters) == sorted(letters)
    assert read_letters(",".join(letters) or "[]", options) == letters


WORDS = st.sampled_from(
    [
        *(
            "A",
            "a",
            "cell",
            "T",
            "B",
            "cells",
            "and",
            "of",
            "vitamin",
            "C",
            "D",
            "rises",
            "or",
            "I",
        ),
        *("is", "E.", "coli", "wrong,", "Option", "in", "the", "because", "markers", "(A)", "not"),
    ]
)


@given(
    st.lists(WORDS, min_size=1, max_size=12), st.sampled_from(["cells", "markers", "coli", "in"])
)
def test_prose_without_a_statement_gives_no_letters(words: Sequence[str], last: str) -> None:
    assert read(" ".join([*words, last])) == "ambiguous_choice"


@pytest.mark.parametrize(
    "text",
    [
        *("x" * 300_000, "answer: " * 30_000, "the final " * 30_000, "A, " * 100_000),
        *("A" + "\n" * 300_000 + "x", "(" * 300_000, "Answer: B. " + "maybe " * 50_000),
        *("is correct " * 30_000, "answer: A. B. " * 30_000, "\\text{" * 50_000, "[" * 100_000),
    ],
    ids=lambda text: text[:9],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    started = time.process_time()
    read(text)
    assert time.process_time() - started < 5

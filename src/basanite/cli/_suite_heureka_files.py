"""What the commands of `suite heureka` read: question files, and results in all their forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..errors import InputError
from ._data import read_json

if TYPE_CHECKING:
    from ..suites.heureka import AskedQuestions, HeurekaResult, QuestionSet

T = TypeVar("T")

DEFAULT_SET = "oeq"
"""What was asked where no question file is named."""


def read_in(file: Path, read: Callable[[object], T]) -> T:
    """Read a JSON file, and name it in what is wrong inside.

    Raises:
        InputError: see `read_json` and the reader.
    """
    parsed = read_json(file)
    try:
        return read(parsed)
    except InputError as error:
        inner = f"{file}, {error.where}" if error.where else str(file)
        raise InputError(error.what, where=inner, todo=error.todo) from None


def read_questions(file: Path) -> QuestionSet:
    """Read a question file in either form.

    Raises:
        InputError: it can't be used; the text names the question.
    """
    from ..suites.heureka import question_set

    return read_in(file, question_set)


def read_asked(given: str, categories: Path | None) -> AskedQuestions:
    """Read what was asked: a question file, or the name of a published set.

    Raises:
        InputError: neither; or categories without a file of questions.
    """
    from ..suites.heureka import AskedQuestions, published_figures, with_categories

    if given in published_figures().sets and not Path(given).exists():
        if categories is not None:
            raise InputError(
                "categories are checked against the questions",
                todo="Name the question file with --questions.",
            )
        return AskedQuestions.published(given)
    questions = read_questions(Path(given))
    return AskedQuestions.of(
        questions if categories is None else with_categories(questions, categories)
    )


def read_all_results(given: Sequence[str]) -> list[HeurekaResult]:
    """Read files of rows, and `AGENT=PATH` of a judged run or of answers in JSON.

    Several paths of one agent are its trials, named 1, 2 and so on in their order.

    Raises:
        InputError: one of them can't be used.
    """
    from ..judges import choice_predictions
    from ..store import RunFolder
    from ..suites.heureka import read_results, results_of_answers, results_of_run

    found: list[HeurekaResult] = []
    trials: Counter[str] = Counter()
    for one in given:
        agent, equals, path = one.partition("=")
        # A file whose name holds a `=` is still a file.
        if not equals or Path(one).is_file():
            if Path(one).is_dir() or one.endswith(".json"):
                raise InputError(
                    "does not say whose results these are", where=one, todo=f"Give AGENT={one}"
                )
            found += read_results(one)
            continue
        trials[agent] += 1
        trial = str(trials[agent])
        if Path(path).is_dir():
            with RunFolder.open(Path(path)) as folder:
                found += results_of_run(folder, agent, trial)
        else:
            answers = read_in(Path(path), choice_predictions)
            found += results_of_answers(answers, agent, trial, path)
    return found

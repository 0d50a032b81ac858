"""The judge without a model: exact definitions, and its figures on human-labelled pairs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import InputError, UnscoredReason
from basanite.judges import Judge, LexicalForm, LexicalJudge
from basanite.schema import Answer
from support.reference import reference


def answer(text: str, truth: str, name: str = "x") -> Answer:
    return Answer(id=name, question="q", answer=text, truth=truth)


async def scores(judge: LexicalJudge, text: str, truth: str) -> list[float | UnscoredReason | None]:
    judgment = await judge.judge(answer(text, truth))
    return [
        judgment.scores[name].value
        if judgment.scores[name].unscored_reason is None
        else judgment.scores[name].unscored_reason
        for name in ("precision", "recall", "f1")
    ]


@pytest.mark.parametrize(
    ("text", "truth", "expected"),
    [
        ("T cells (CD4) rise.", "t cells, CD4; FALL", [3 / 4, 3 / 4, 3 / 4]),
        ("a a a b", "a", [1 / 2, 1, 2 / 3]),
        ("x", "y", [0, 0, 0]),
        ("'quoted' [it]:", 'it "QUOTED"', [1, 1, 1]),
        ("don't", "dont", [0, 0, 0]),
        ("...", "a", [UnscoredReason.UNDEFINED, 0, 0]),
        ("a", "...", [0, UnscoredReason.UNDEFINED, UnscoredReason.UNDEFINED]),
        (" \n\t", "a", [UnscoredReason.EMPTY_ANSWER] * 3),
    ],
)
async def test_token_f1(text: str, truth: str, expected: list[object]) -> None:
    assert await scores(LexicalJudge("token-f1"), text, truth) == pytest.approx(expected)


@given(st.text(alphabet="aB .,;:()[]\"'\n"), st.text(alphabet="aB .,;:()[]\"'\n"))
def test_token_f1_is_the_definition(text: str, truth: str) -> None:
    def tokens(s: str) -> set[str]:
        return {t for t in (w.strip(".,;:()[]\"'") for w in s.lower().split()) if t}

    said, true = tokens(text), tokens(truth)
    both = len(said & true)
    ours = LexicalJudge("token-f1").scores(text, truth)
    assert ours["precision"].value == (both / len(said) if said else None)
    assert ours["recall"].value == (both / len(true) if true else None)
    if said and true and both:
        p, r = both / len(said), both / len(true)
        assert ours["f1"].value == pytest.approx(2 * p * r / (p + r))


async def test_weighted_by_hand() -> None:
    subjects = [
        answer("Monocytes rising", "The monocytes rise"),
        answer("B cells rise", "The monocytes rise", "y"),
    ]
    judge = LexicalJudge()
    judge.fit(subjects)
    # Three documents: two answers and the one truth. "rise" is in all, "monocyt" in two.
    rise, monocyt, rare = (math.log(1 + 3 / n) for n in (3, 2, 1))
    assert await scores(judge, subjects[0].answer, subjects[0].truth) == pytest.approx([1, 1, 1])
    p, r = rise / (2 * rare + rise), rise / (rise + monocyt)
    assert await scores(judge, subjects[1].answer, subjects[1].truth) == pytest.approx(
        [p, r, 2 * p * r / (p + r)]
    )
    # A stem that no document holds counts as held by one.
    assert (await scores(judge, "unseen rise", "rise"))[0] == pytest.approx(rise / (rise + rare))


async def test_one_item_alone_has_scores() -> None:
    subject = answer("cells rise", "cells fall")
    judge = LexicalJudge()
    judge.fit([subject])
    precision, recall, f1 = await scores(judge, subject.answer, subject.truth)
    assert all(isinstance(one, float) and 0 < one < 1 for one in (precision, recall, f1))


async def test_stop_words_only_are_undefined() -> None:
    judge = LexicalJudge()
    judge.fit([answer("the of", "cells rise")])
    undefined = UnscoredReason.UNDEFINED
    assert await scores(judge, "the of", "cells rise") == [undefined, 0, 0]
    assert await scores(judge, "cells", "the of") == [0, undefined, undefined]


async def test_its_output_says_what_it_can_not_see() -> None:
    judge = LexicalJudge("token-f1")
    judgment = await judge.judge(answer("A raises B", "A does not raise B"))
    assert judgment.notes == (LexicalJudge.caveat,)
    assert "negation" in LexicalJudge.caveat and "direction" in LexicalJudge.caveat
    assert judgment.score_mode == "token-overlap"
    assert judgment.primary == judge.score_names[0] == "f1"
    assert judgment.usage.calls == 0
    assert judgment.task == "q"


async def test_unfitted_it_says_what_to_do() -> None:
    with pytest.raises(InputError, match="fit"):
        await LexicalJudge().judge(answer("a", "b"))
    with pytest.raises(InputError, match="token-f1"):
        LexicalJudge("bleu")  # type: ignore[arg-type]


def test_the_fingerprint_holds_form_and_texts() -> None:
    one, two = LexicalJudge(), LexicalJudge()
    one.fit([answer("cells rise", "cells fall")])
    before = one.fingerprint.digest
    two.fit([answer("cells rise", "cells fall")])
    assert two.fingerprint.digest == before
    two.fit([answer("cells rise", "cells rise")])
    assert two.fingerprint.digest != before
    assert LexicalJudge("token-f1").fingerprint.digest != before
    assert isinstance(one, Judge)
    assert one.fingerprint.model.kind == "none"


async def test_ten_megabytes_are_no_trouble() -> None:
    judge = LexicalJudge()
    big = answer("cell rise fall " * 700_000, "cells rise")
    judge.fit([big])
    assert (await scores(judge, big.answer, big.truth))[1] == pytest.approx(1)


def pairs() -> list[dict[str, Any]]:
    path = reference("ragchecker/meta_eval_pairs_half.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("form", "expected"),
    # Pearson of the F1's difference with people's labels of correctness, completeness and
    # overall, on the 140 pairs (of 280) that the data hold. On all 280 the plain form has
    # .41, .55, .50 and the weighted one .45, .56, .54.
    [("token-f1", (0.426, 0.593, 0.554)), ("weighted", (0.465, 0.617, 0.597))],
)
async def test_agreement_with_people(form: LexicalForm, expected: tuple[float, ...]) -> None:
    rows = pairs()
    assert len(rows) == 140
    subjects = [
        [
            answer(str(row[model]["response"]), str(row["gt_answer"]), f"{n}-{model}")
            for model in ("model1", "model2")
        ]
        for n, row in enumerate(rows)
    ]
    judge = LexicalJudge(form)
    judge.fit(one for pair in subjects for one in pair)
    # An empty response is unscored; here, where every pair needs a number, it has 0.
    f1 = [[(await judge.judge(one)).scores["f1"].value or 0.0 for one in pair] for pair in subjects]
    deltas = np.repeat([second - first for first, second in f1], 2)
    for name, value in zip(("correctness", "completeness", "overall"), expected, strict=True):
        human = np.ravel([row["human"][name] for row in rows])
        assert np.corrcoef(deltas, human)[0, 1] == pytest.approx(value, abs=0.01), name

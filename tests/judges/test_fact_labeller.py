"""The labeller: how an answer states each fact of the truth."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from basanite.errors import UnscoredReason
from basanite.judges import Checked, CheckOptions, FactLabeller
from basanite.llm import Request
from basanite.schema import Fact, FactLabel, FactVerdict
from support.instant_model import InstantModel, claim_ids, content

P, H, M, I = (  # noqa: E741
    FactLabel.PRESENT,
    FactLabel.PARTIAL,
    FactLabel.MISSING,
    FactLabel.INCORRECT,
)

ANSWER = "In cluster 3, CD8 T cells expand twofold after treatment (p = 0.01)."


def facts(count: int) -> list[Fact]:
    return [
        Fact(id=f"t{n}", side="truth", condition=f"group {n}", trend="rises", conclusion="more")
        for n in range(1, count + 1)
    ]


async def label(
    answer: Callable[[Request], dict[str, object]],
    count: int = 2,
    text: str = ANSWER,
    **options: int,
) -> tuple[Checked[FactVerdict], InstantModel]:
    model = InstantModel(answer)
    labeller = FactLabeller(model, CheckOptions(**options))
    return await labeller.check(facts(count), text, against="answer", question="?"), model


def told(**labels: tuple[str, str]) -> Callable[[Request], dict[str, object]]:
    """Answer with a label and a basis by fact."""

    def answer(request: Request) -> dict[str, object]:
        return {
            name: {"quote": "CD8 T cells", "label": labels[name][0], "basis": labels[name][1]}
            for name in claim_ids(request)
        }

    return answer


@pytest.mark.parametrize(
    ("said", "basis", "label_", "kept"),
    [
        ("present", "data", P, "data"),
        ("present", "recall", H, "recall"),
        ("present", "none", P, None),
        ("partial", "recall", H, "recall"),
        ("incorrect", "recall", I, "recall"),
        ("missing", "none", M, None),
        ("missing", "data", M, None),
    ],
)
async def test_what_is_recalled_counts_as_partial(
    said: str, basis: str, label_: FactLabel, kept: str | None
) -> None:
    checked, _ = await label(told(t1=(said, basis)), 1)
    verdict = checked.verdicts["t1"]
    assert (verdict.label, verdict.basis) == (label_, kept)


async def test_quotes_are_looked_up_in_the_answer() -> None:
    def answer(request: Request) -> dict[str, object]:
        quotes = {"t1": "expand twofold", "t2": "shrink by half"}
        return {
            name: {"quote": quotes[name], "label": "present", "basis": "data"}
            for name in claim_ids(request)
        }

    checked, model = await label(answer)
    first, second = (one.quote for one in checked.verdicts.values())
    assert first is not None and second is not None
    assert (first.match, ANSWER[slice(*first.span or ())]) == ("exact", "expand twofold")
    assert second.match == "missing"
    prompt = content(model.requests[0])
    assert "group 1" in prompt and "rises" in prompt and ANSWER in prompt
    assert model.requests[0].role == "label:answer"


async def test_a_fact_that_is_left_out_is_asked_again_and_then_unscored() -> None:
    def answer(request: Request) -> dict[str, object]:
        return {"t1": {"quote": "", "label": "present", "basis": "data"}}

    checked, model = await label(answer)
    assert len(model.requests) > 1
    assert checked.verdicts["t1"].label is P
    assert checked.verdicts["t2"].label is None
    assert checked.verdicts["t2"].unscored_reason is UnscoredReason.IDS_MISSING


async def test_a_label_of_its_own_invention_is_refused() -> None:
    checked, _ = await label(told(t1=("mostly", "data"), t2=("present", "data")))
    assert checked.verdicts["t1"].unscored_reason is UnscoredReason.REPLY_INVALID


async def test_a_blank_answer_states_nothing_and_asks_nobody() -> None:
    checked, model = await label(told(), 2, " \n ")
    assert [one.label for one in checked.verdicts.values()] == [M, M]
    assert model.requests == []


async def test_of_several_windows_the_best_statement_stands() -> None:
    def answer(request: Request) -> dict[str, object]:
        prompt = content(request)
        said, basis = "missing", "none"
        if "part 2" in prompt:
            said, basis = "incorrect", "data"
        if "part 1" in prompt:
            said, basis = "present", "data"
        return {name: {"quote": "", "label": said, "basis": basis} for name in claim_ids(request)}

    text = "\n\n".join(f"Words of part {n} go on. " * 150 for n in range(3))
    model = InstantModel(answer, context_tokens=3000)
    checked = await FactLabeller(model).check(facts(1), text, against="answer")
    assert len(model.requests) >= 2
    assert checked.verdicts["t1"].label is P

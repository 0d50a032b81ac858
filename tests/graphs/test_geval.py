"""The graph `geval`: which calls are made for what, what the state holds, and what fails alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from basanite.errors import CallError, CapabilityError, UnscoredReason
from basanite.extractors import ClaimExtractor, ExtractOptions
from basanite.graphs import FactParts, RatingParts, as_judge, build_geval, geval_plan
from basanite.judges import (
    FACT_SCORES,
    RATING_SCORES,
    EntailmentChecker,
    FactLabeller,
    Judge,
    Rater,
    RatingMode,
    RatingOptions,
)
from basanite.llm import ModelSpec, Request, open_model
from basanite.schema import Answer, FactLabel, Judgment
from support.instant_model import InstantModel, claim_ids, content
from support.mock_endpoint import MockEndpoint

TRUTH_FACTS = [["after treatment", "T cells rise", "the therapy works"], ["", "B cells fall", ""]]

LABELS = {
    "t1": ("present", "data"),
    "t2": ("partial", "recall"),
    "a1": "entailed",
    "a2": "neutral",
}


def subject(**fields: object) -> Answer:
    base = {
        "id": "i1",
        "question": "Which cells change?",
        "answer": "T cells rise twofold. Mice were used.",
        "truth": "After treatment T cells rise, and B cells fall.",
    }
    return Answer.model_validate(base | fields)


def model_of(labels: dict[str, Any] | None = None) -> InstantModel:
    """Extraction gives two facts a side; labels come from a table."""
    table = LABELS | (labels or {})

    def answer(request: Request) -> dict[str, object]:
        if request.role.startswith("extract"):
            return {
                "facts": [
                    {"condition": "always", "trend": f"{request.role} {n}", "conclusion": ""}
                    for n in (1, 2)
                ]
            }
        reply: dict[str, object] = {}
        for name in claim_ids(request):
            said = table[name]
            if request.role.startswith("label"):
                reply[name] = {"quote": "T cells rise", "label": said[0], "basis": said[1]}
            else:
                reply[name] = {"quote": "", "label": said}
        return reply

    return InstantModel(answer)


def parts_of(model: InstantModel, extract: InstantModel | None = None) -> FactParts:
    extractor = ClaimExtractor(extract or model, ExtractOptions(form="facts"))
    return FactParts(extractor, FactLabeller(model), EntailmentChecker(model))


def judge_of(model: InstantModel, extract: InstantModel | None = None) -> Judge:
    parts = parts_of(model, extract)
    return as_judge(build_geval(parts), parts.profile())


def failing(role: str, reason: UnscoredReason = UnscoredReason.TIMEOUT) -> InstantModel:
    """A model that fails for one role and does well for the others."""
    good = model_of().answer

    def answer(request: Request) -> Any:
        if request.role == role:
            raise CallError(reason, f"{role} failed")
        return good(request)

    return InstantModel(answer)


def value(judgment: Judgment, name: str) -> float | UnscoredReason | None:
    score = judgment.scores[name]
    return score.value if score.unscored_reason is None else score.unscored_reason


async def test_facts_are_extracted_labelled_and_rated() -> None:
    model = model_of()
    judgment = await judge_of(model).judge(subject())
    assert sorted(request.role for request in model.requests) == [
        "check:truth",
        "extract:answer",
        "extract:truth",
        "label:answer",
    ]
    assert [fact.id for fact in judgment.facts] == ["t1", "t2", "a1", "a2"]
    verdicts = {one.fact_id: one for one in judgment.fact_verdicts}
    assert {name: one.label for name, one in verdicts.items()} == {
        "t1": FactLabel.PRESENT,
        "t2": FactLabel.PARTIAL,
    }
    assert verdicts["t2"].basis == "recall"
    assert verdicts["t1"].quote is not None and verdicts["t1"].quote.match == "exact"
    assert {one.claim_id for one in judgment.verdicts} == {"a1", "a2"}
    assert {name: value(judgment, name) for name in FACT_SCORES} == {
        "rating": 3,
        "rating_literal": 3,
        "coverage": 0.75,
        "present": 0.5,
        "partial": 0.5,
        "missing": 0,
        "incorrect": 0,
        "further": 0.5,
        "conflicting": 0,
    }
    assert (judgment.judge, judgment.primary, judgment.score_mode) == ("geval", "rating", "facts")
    assert judgment.usage.calls == len(judgment.replies) == 4
    assert judgment.claims == ()


async def test_given_facts_of_the_truth_are_used_as_they_are() -> None:
    model = model_of()
    judgment = await judge_of(model).judge(subject(truth_facts=TRUTH_FACTS))
    assert "extract:truth" not in {request.role for request in model.requests}
    of_truth = [fact for fact in judgment.facts if fact.side == "truth"]
    assert [[fact.condition, fact.trend, fact.conclusion] for fact in of_truth] == TRUTH_FACTS
    prompt = next(content(one) for one in model.requests if one.role == "label:answer")
    assert "after treatment" in prompt and "the therapy works" in prompt


async def test_the_truth_is_read_once_for_all_answers_to_a_question() -> None:
    model = model_of()
    judge = judge_of(model)
    for number in range(3):
        await judge.judge(subject(id=f"i{number}", answer=f"T cells rise {number} times."))
    roles = [request.role for request in model.requests]
    assert roles.count("extract:truth") == 1
    assert roles.count("extract:answer") == 3


async def test_further_facts_cost_nothing_and_conflicting_ones_do() -> None:
    good = {"t1": ("present", "data"), "t2": ("present", "data")}
    further = await judge_of(model_of(good | {"a1": "neutral"})).judge(subject())
    assert (value(further, "rating"), value(further, "further")) == (5, 1)
    against = await judge_of(model_of(good | {"a2": "contradicted"})).judge(subject())
    assert (value(against, "rating"), value(against, "rating_literal")) == (3, 5)
    assert value(against, "conflicting") == 0.5


async def test_an_answer_without_findings_gets_one() -> None:
    nothing = {"t1": ("missing", "none"), "t2": ("missing", "none")}
    inner = model_of(nothing).answer

    def answer(request: Request) -> Any:
        return {"facts": []} if request.role == "extract:answer" else inner(request)

    judgment = await judge_of(InstantModel(answer)).judge(subject(answer="I could not run it."))
    assert value(judgment, "rating") == 1
    assert value(judgment, "further") is UnscoredReason.NO_CLAIMS


@pytest.mark.parametrize(
    ("role", "lost", "kept"),
    [
        ("extract:truth", {"rating", "rating_literal", "coverage"}, {"further", "conflicting"}),
        ("extract:answer", {"rating", "further", "conflicting"}, {"rating_literal", "coverage"}),
        ("label:answer", {"rating", "rating_literal", "present"}, {"further"}),
        ("check:truth", {"rating", "further"}, {"rating_literal", "missing"}),
    ],
)
async def test_a_failed_step_takes_only_what_needs_it(
    role: str, lost: set[str], kept: set[str]
) -> None:
    judgment = await judge_of(failing(role)).judge(subject())
    assert {value(judgment, name) for name in lost} == {UnscoredReason.TIMEOUT}
    assert all(isinstance(value(judgment, name), float | int) for name in kept)
    assert judgment.message is not None and f"{role} failed" in judgment.message
    assert not judgment.final


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"answer": " \n"}, UnscoredReason.EMPTY_ANSWER),
        ({"truth": ""}, UnscoredReason.INVALID_ROW),
    ],
)
@pytest.mark.parametrize("mode", ["facts", "weighted", "sampled"])
async def test_empty_texts_are_not_judged(
    fields: dict[str, object], reason: UnscoredReason, mode: str
) -> None:
    model = model_of()
    parts: FactParts | RatingParts = parts_of(model)
    if mode != "facts":
        rating: RatingMode = "weighted" if mode == "weighted" else "sampled"
        parts = RatingParts(Rater(model, RatingOptions(mode=rating)))
    judgment = await as_judge(build_geval(parts), parts.profile()).judge(subject(**fields))
    assert {score.unscored_reason for score in judgment.scores.values()} == {reason}
    assert judgment.score_mode == mode
    assert model.requests == []


async def test_two_models() -> None:
    check, extract = model_of(), model_of()
    check.name, extract.name = "large", "small"
    judge = judge_of(check, extract)
    await judge.judge(subject())
    assert {request.role.partition(":")[0] for request in extract.requests} == {"extract"}
    assert {request.role.partition(":")[0] for request in check.requests} == {"label", "check"}
    assert judge.fingerprint.model.name == "large"
    assert judge.fingerprint.options["extract_model"]["name"] == "small"  # type: ignore[index, call-overload]
    assert "check_model" not in judge.fingerprint.options


async def test_the_fingerprint_changes_with_all_that_changes_ratings() -> None:
    model = model_of()
    options = [
        RatingOptions(),
        RatingOptions(least_mass=0.9),
        RatingOptions(reasoning=True),
        RatingOptions(criteria="Is it polite?"),
        RatingOptions(mode="sampled"),
        RatingOptions(mode="sampled", samples=3),
        RatingOptions(mode="sampled", temperature=0.5),
    ]
    digests = {RatingParts(Rater(model, one)).profile().fingerprint.digest for one in options} | {
        parts_of(model).profile().fingerprint.digest
    }
    assert len(digests) == len(options) + 1
    assert parts_of(model).profile().fingerprint.parser_version.count("/") == 2


async def test_the_state_is_plain_json_and_goes_through_a_checkpointer() -> None:
    graph = build_geval(parts_of(model_of()), checkpointer=InMemorySaver())
    seen = subject().model_dump(mode="json")
    config: Any = {"configurable": {"thread_id": "one"}}
    state = await graph.ainvoke({"subject": seen}, config)
    assert json.loads(json.dumps(state)) == state
    assert (await graph.aget_state(config)).values == state


async def test_a_rating_by_the_graph() -> None:
    model = InstantModel(lambda request: {"rating": 3 + request.replicate % 2})
    parts = RatingParts(Rater(model, RatingOptions(mode="sampled", samples=4)))
    judge = as_judge(build_geval(parts), parts.profile())
    judgment = await judge.judge(subject())
    assert value(judgment, "rating") == 3.5
    assert judgment.probabilities == {"1": 0, "2": 0, "3": 0.5, "4": 0.5, "5": 0}
    assert judgment.probability_mass is None
    assert judgment.score_mode == "sampled"
    assert tuple(judgment.scores) == RATING_SCORES["sampled"] == judge.score_names
    assert judgment.usage.calls == 4


async def test_what_ends_the_run_is_raised() -> None:
    def answer(request: Request) -> Any:
        raise CapabilityError("no logprobs here", todo="leave them out")

    parts = RatingParts(Rater(InstantModel(answer)))
    with pytest.raises(CapabilityError, match="sampled"):
        await as_judge(build_geval(parts), parts.profile()).judge(subject())


@pytest.mark.parametrize("mode", ["facts", "weighted", "sampled"])
async def test_plan_and_graph_do_the_same(mode: str) -> None:
    subjects = [
        subject(),
        subject(id="i2", answer=" "),
        subject(id="i3", truth_facts=TRUTH_FACTS),
    ]
    with MockEndpoint() as mock:
        async with open_model(ModelSpec(endpoint=mock.url, cache="off"), None) as model:
            extractor = ClaimExtractor(model, ExtractOptions(form="facts"))
            parts: FactParts | RatingParts
            parts = FactParts(extractor, FactLabeller(model), EntailmentChecker(model))
            if mode != "facts":
                rating: RatingMode = "weighted" if mode == "weighted" else "sampled"
                parts = RatingParts(Rater(model, RatingOptions(mode=rating)))
            straight = as_judge(geval_plan(parts), parts.profile())
            by_graph = as_judge(build_geval(parts), parts.profile())
            for one in subjects:
                ours, theirs = await straight.judge(one), await by_graph.judge(one)
                # Seconds differ, and facts that the first has frozen cost the second no call.
                left_out = {"usage", "replies"}
                assert ours.model_dump(exclude=left_out) == theirs.model_dump(exclude=left_out)


def test_the_graph_tells_tools_what_it_takes() -> None:
    graph = build_geval(parts_of(model_of()))
    assert "subject" in graph.get_input_jsonschema()["properties"]
    assert {"extract", "check", "score"} <= set(graph.get_graph().nodes)

"""The graph: which calls are made for what, and what the state holds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from basanite.errors import CallError, EndpointError, UnscoredReason
from basanite.extractors import ClaimExtractor, Extraction, SentenceSplitter, Side
from basanite.graphs import (
    ClaimParts,
    as_judge,
    build_claim_entailment,
    claim_entailment_plan,
)
from basanite.judges import CLAIM_SCORES, CheckOptions, Direction, EntailmentChecker, Judge
from basanite.llm import ModelSpec, Request, open_model
from basanite.schema import Answer, Context, Judgment
from support.instant_model import Answering, InstantModel, all_labelled, claim_ids, content
from support.mock_endpoint import MockEndpoint


def subject(**fields: object) -> Answer:
    base = {
        "id": "i1",
        "question": "How do groups differ?",
        "answer": "Group A is larger. Group B is smaller.",
        "truth": "Group A is larger than group B.",
        "task": "t1",
        "agent": "g",
        "trial": "2",
        "human": {"score": 1},
    }
    return Answer.model_validate(base | fields)


GIVEN = {"answer_claims": ["Group A is larger.", "Group B is rare."], "truth_claims": ["A > B."]}


def model_of(check: Answering | None = None) -> InstantModel:
    """Extraction gives two claims; checks are answered by `check`."""
    checking = check or all_labelled("entailed")

    def answer(request: Request) -> object:
        if request.role.startswith("extract"):
            return {"claims": [f"{request.role} one", f"{request.role} two"]}
        return checking(request)

    return InstantModel(answer)  # type: ignore[arg-type]


def judge_of(model: InstantModel, direction: Direction = "both", **parts: object) -> Judge:
    whole = ClaimParts(
        ClaimExtractor(model),
        EntailmentChecker(model),
        direction=direction,
        **parts,  # type: ignore[arg-type]
    )
    return as_judge(build_claim_entailment(whole), whole.profile())


def value(judgment: Judgment, name: str) -> float | UnscoredReason | None:
    score = judgment.scores[name]
    return score.value if score.unscored_reason is None else score.unscored_reason


async def test_both_directions() -> None:
    model = model_of()
    judgment = await judge_of(model).judge(subject())
    assert sorted(request.role for request in model.requests) == [
        "check:answer",
        "check:truth",
        "extract:answer",
        "extract:truth",
    ]
    assert [value(judgment, name) for name in ("precision", "recall", "f1")] == [1, 1, 1]
    assert [claim.id for claim in judgment.claims] == ["a1", "a2", "t1", "t2"]
    assert {(one.claim_id, one.against) for one in judgment.verdicts} == {
        *(("a1", "truth"), ("a2", "truth"), ("t1", "answer"), ("t2", "answer"))
    }
    assert judgment.usage.calls == len(judgment.replies) == 4
    assert (judgment.primary, judgment.judge, judgment.score_mode) == ("f1", "claims", "labels")
    assert (judgment.task, judgment.agent, judgment.trial) == ("t1", "g", "2")
    assert judgment.human == {"score": 1}
    assert judgment.message is None
    assert judgment.final
    assert value(judgment, "faithfulness") is UnscoredReason.NO_CONTEXTS


async def test_given_claims_and_one_direction_cost_one_call() -> None:
    model = model_of()
    judgment = await judge_of(model, "precision").judge(subject(**GIVEN))
    assert [request.role for request in model.requests] == ["check:truth"]
    assert [claim.text for claim in judgment.claims] == GIVEN["answer_claims"]
    assert judgment.primary == "precision"
    assert value(judgment, "precision") == 1
    for name in ("recall", "f1", "claim_recall"):
        assert value(judgment, name) in {UnscoredReason.NOT_REQUESTED, UnscoredReason.NO_CONTEXTS}
    assert value(judgment, "recall") is UnscoredReason.NOT_REQUESTED


async def test_given_claims_are_used_as_they_are() -> None:
    model = model_of()
    repeated = subject(answer_claims=["X.", "X.", "x"], truth_claims=[])
    judgment = await judge_of(model).judge(repeated)
    assert [claim.id for claim in judgment.claims] == ["a1", "a2", "a3"]
    assert value(judgment, "recall") is UnscoredReason.NO_CLAIMS
    assert len(model.requests) == 1


async def test_one_side_given_extracts_the_other() -> None:
    model = model_of()
    await judge_of(model).judge(subject(truth_claims=["A > B."]))
    roles = [request.role for request in model.requests]
    assert "extract:answer" in roles and "extract:truth" not in roles


async def test_recall_only() -> None:
    model = model_of()
    judge = judge_of(model, "recall")
    judgment = await judge.judge(subject())
    assert {request.role for request in model.requests} == {"extract:truth", "check:answer"}
    assert judgment.primary == judge.score_names[0] == "recall"
    assert value(judgment, "precision") is UnscoredReason.NOT_REQUESTED
    assert set(judge.score_names) == set(CLAIM_SCORES)


async def test_contexts_give_every_metric() -> None:
    def check(request: Request) -> dict[str, object]:
        # a1 is right; a2 is wrong and stands in context 1, which holds nothing of the truth.
        table = {
            "check:truth": {"a1": "entailed", "a2": "neutral"},
            "check:answer": {"t1": "entailed", "t2": "contradicted"},
            "check:context:0": {"a1": "entailed", "a2": "neutral", "t1": "entailed"},
            "check:context:1": {"a2": "entailed"},
        }[request.role]
        return {
            name: {"quote": "", "label": table.get(name, "neutral")} for name in claim_ids(request)
        }

    model = model_of(check)
    contexts = (Context(text="first passage"), Context(text="second passage"))
    judgment = await judge_of(model).judge(subject(contexts=contexts))
    assert {name: value(judgment, name) for name in CLAIM_SCORES} == {
        "f1": 0.5,
        "precision": 0.5,
        "recall": 0.5,
        "claim_recall": 0.5,
        "context_precision": 0.5,
        "context_utilization": 1.0,
        "noise_sensitivity_in_relevant": 0.0,
        "noise_sensitivity_in_irrelevant": 0.5,
        "hallucination": 0.0,
        "self_knowledge": 0.0,
        "faithfulness": 1.0,
    }
    assert len(model.requests) == 2 + 2 + 4
    context_prompts = [content(one) for one in model.requests if "context" in one.role]
    assert not any("How do groups differ?" in prompt for prompt in context_prompts)


async def test_contexts_can_be_left_out() -> None:
    model = model_of()
    judge = judge_of(model, contexts=False)
    judgment = await judge.judge(subject(contexts=[{"text": "x"}]))
    assert value(judgment, "faithfulness") is UnscoredReason.NOT_REQUESTED
    assert len(model.requests) == 4


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"answer": " \n\t"}, UnscoredReason.EMPTY_ANSWER),
        ({"answer": "", **GIVEN}, UnscoredReason.EMPTY_ANSWER),
        ({"truth": " "}, UnscoredReason.INVALID_ROW),
    ],
)
async def test_empty_texts_are_not_judged(
    fields: dict[str, object], reason: UnscoredReason
) -> None:
    model = model_of()
    judgment = await judge_of(model).judge(subject(**fields))
    assert {value(judgment, name) for name in CLAIM_SCORES} == {reason}
    assert judgment.message and "white space" in judgment.message
    assert model.requests == []


async def test_an_answer_that_states_nothing_scores_zero() -> None:
    def answer(request: Request) -> object:
        if request.role == "extract:answer":
            return {"claims": []}
        if request.role == "extract:truth":
            return {"claims": ["A > B."]}
        return all_labelled("neutral")(request)

    model = InstantModel(answer)  # type: ignore[arg-type]
    judgment = await judge_of(model).judge(subject(answer="I could not run it."))
    assert value(judgment, "f1") == 0.0
    assert value(judgment, "precision") is UnscoredReason.NO_CLAIMS


async def test_a_failed_extraction_takes_its_side_only() -> None:
    def answer(request: Request) -> object:
        if request.role == "extract:answer":
            raise CallError(UnscoredReason.TIMEOUT, "no answer in 180 s")
        if request.role.startswith("extract"):
            return {"claims": ["A > B."]}
        return all_labelled("entailed")(request)

    judgment = await judge_of(InstantModel(answer)).judge(subject())  # type: ignore[arg-type]
    assert value(judgment, "recall") == 1.0
    assert value(judgment, "precision") is UnscoredReason.TIMEOUT
    assert value(judgment, "f1") is UnscoredReason.TIMEOUT
    assert judgment.message == "claims of the answer: no answer in 180 s"
    assert not judgment.final


async def test_replies_that_can_not_be_used_are_kept_with_their_cost() -> None:
    model = model_of(lambda request: "no JSON")
    judgment = await judge_of(model, "precision").judge(subject(**GIVEN))
    assert value(judgment, "precision") is UnscoredReason.REPLY_INVALID
    assert [reply.error for reply in judgment.replies] == [UnscoredReason.REPLY_INVALID] * 3
    assert judgment.usage.calls == 3
    assert judgment.final


async def test_what_ends_the_run_is_raised() -> None:
    def check(request: Request) -> dict[str, object]:
        raise EndpointError("gone")

    with pytest.raises(EndpointError, match="gone"):
        await judge_of(model_of(check)).judge(subject())


async def test_the_truth_is_read_once_for_all_answers_to_a_question() -> None:
    model = model_of()
    judge = judge_of(model)
    for number in range(3):
        await judge.judge(subject(id=f"i{number}", answer=f"Answer {number}."))
    roles = [request.role for request in model.requests]
    assert roles.count("extract:truth") == 1
    assert roles.count("extract:answer") == 3


async def test_two_models() -> None:
    extract, check = model_of(), model_of()
    extract.name, check.name = "small", "large"
    parts = ClaimParts(ClaimExtractor(extract), EntailmentChecker(check))
    judge = as_judge(build_claim_entailment(parts), parts.profile())
    await judge.judge(subject())
    assert {request.role[:5] for request in extract.requests} == {"extra"}
    assert {request.role[:5] for request in check.requests} == {"check"}
    assert judge.fingerprint.model.name == "large"
    assert judge.fingerprint.options["extract_model"]["name"] == "small"  # type: ignore[index, call-overload]


async def test_sentences_need_no_model_for_the_claims() -> None:
    model = model_of()
    parts = ClaimParts(SentenceSplitter(), EntailmentChecker(model))
    judgment = await as_judge(build_claim_entailment(parts), parts.profile()).judge(subject())
    assert [claim.text for claim in judgment.claims][:2] == [
        "Group A is larger.",
        "Group B is smaller.",
    ]
    assert len(model.requests) == 2


async def test_the_fingerprint_changes_with_all_that_changes_scores() -> None:
    def digest(model: InstantModel, check: CheckOptions, direction: Direction = "both") -> str:
        checker = EntailmentChecker(model, check)
        parts = ClaimParts(ClaimExtractor(model), checker, direction=direction)
        return parts.profile().fingerprint.digest

    model = model_of()
    other = model_of()
    other.name = "other"
    base = digest(model, CheckOptions())
    assert digest(model_of(), CheckOptions()) == base
    changed = {
        digest(other, CheckOptions()),
        digest(model, CheckOptions(per_request=1)),
        digest(model, CheckOptions(seed=1)),
        digest(model, CheckOptions(), "recall"),
    }
    assert len(changed | {base}) == 5
    fingerprint = ClaimParts(ClaimExtractor(model), EntailmentChecker(model)).profile().fingerprint
    assert set(fingerprint.prompts) == {"extract", "check"}
    assert fingerprint.parser_version.count("-") == 2


async def test_the_state_is_plain_json_and_goes_through_a_checkpointer() -> None:
    model = model_of()
    parts = ClaimParts(ClaimExtractor(model), EntailmentChecker(model))
    saver = InMemorySaver()
    graph = build_claim_entailment(parts, checkpointer=saver)
    seen = subject(contexts=[{"text": "x"}]).model_dump(mode="json")
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    state = await graph.ainvoke({"subject": seen}, config)
    assert json.loads(json.dumps(state)) == state
    kept = await graph.aget_state(config)
    assert kept.values == state
    judge = as_judge(graph, parts.profile())
    once, twice = [await judge.judge(subject()) for _ in range(2)]
    assert len(once.claims) == len(twice.claims) == 4
    plain = as_judge(build_claim_entailment(parts), parts.profile())
    assert (await plain.judge(subject())).scores == twice.scores


async def test_a_failure_outside_of_the_nodes_care_is_a_reason() -> None:
    class Broken(ClaimExtractor):
        async def extract(self, text: str, *, side: Side, question: str = "") -> Extraction:
            raise CallError(UnscoredReason.HTTP_ERROR, "502 again and again")

    model = model_of()
    parts = ClaimParts(Broken(model), EntailmentChecker(model))
    judgment = await as_judge(build_claim_entailment(parts), parts.profile()).judge(subject())
    assert {value(judgment, name) for name in ("f1", "precision", "recall")} == {
        UnscoredReason.HTTP_ERROR
    }


@pytest.mark.parametrize("direction", ["both", "precision", "recall"])
@pytest.mark.parametrize("given", [True, False])
async def test_plan_and_graph_do_the_same(given: bool, direction: Direction) -> None:
    claims = {"answer_claims": ("A rises.",), "truth_claims": ("A rises.", "B falls.")}
    subjects = [
        Answer(
            id="1", question="q", answer="A rises. B stays.", truth="A rises. B falls."
        ).model_copy(update=claims if given else {}),
        Answer(id="2", question="q", answer=" ", truth="A rises."),
        Answer(id="3", question="q", answer="A.", truth="B.", contexts=(Context(text="A rises."),)),
    ]
    with MockEndpoint() as mock:
        async with open_model(ModelSpec(endpoint=mock.url, cache="off"), None) as model:
            parts = ClaimParts(ClaimExtractor(model), EntailmentChecker(model), direction=direction)
            profile = parts.profile()
            straight = as_judge(claim_entailment_plan(parts), profile)
            by_graph = as_judge(build_claim_entailment(parts), profile)
            for subject in subjects:
                ours, theirs = await straight.judge(subject), await by_graph.judge(subject)
                # Seconds differ, and claims that the first has frozen cost the second no call.
                left_out = {"usage", "replies"}
                assert ours.model_dump(exclude=left_out) == theirs.model_dump(exclude=left_out)


def test_the_graph_tells_tools_what_it_takes() -> None:
    model = model_of()
    graph = build_claim_entailment(ClaimParts(ClaimExtractor(model), EntailmentChecker(model)))
    assert "subject" in graph.get_input_jsonschema()["properties"]


def test_judging_by_plan_loads_no_langgraph() -> None:
    code = (
        "import sys\n"
        "from basanite.graphs import claim_entailment_plan, as_judge\n"
        "import basanite.suites\n"
        "assert not {'langgraph', 'langchain_core'} & set(sys.modules), 'loaded'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

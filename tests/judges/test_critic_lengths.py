"""Trajectories of any length before a critic of any context: read, within bounds, never lost."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from basanite.errors import CallError, ReplyError, UnscoredReason
from basanite.graphs.end_critic import Reply, run_with_critic
from basanite.judges.critic import Critic, CriticOptions, Step
from basanite.judges.critic._condense import MOST_WINDOWS, Condenser
from basanite.judges.critic._summary import Summariser
from basanite.llm import Completion, Request
from basanite.schema import CriticVerdict
from support.critic_agents import ACCEPT
from support.instant_model import InstantModel, content
from support.scripted_chat import ScriptedChat

CONTEXTS = (2048, 4096, 8192, 12_288, 16_384, 32_768)


@dataclass
class StrictModel(InstantModel):
    """Refuses what does not fit its context, as a server does; three characters to a token."""

    largest: int = field(default=0)

    async def complete(self, request: Request) -> Completion:
        prompt = await self.count_tokens(content(request))
        self.largest = max(self.largest, prompt + request.sampling.max_tokens)
        if self.context_tokens is not None and self.largest > self.context_tokens:
            raise ReplyError(UnscoredReason.CONTEXT_OVERFLOW, f"{self.largest} tokens")
        return await super().complete(request)

    async def count_tokens(self, text: str) -> int:
        return -(-len(text) // 3)


def words_asked(request: Request) -> int:
    found = re.search(r"at most (\d+) words", content(request))
    assert found is not None
    return int(found[1])


def summary_of(request: Request, length: float = 1.0) -> dict[str, str]:
    """As many words as may be, or some more or less."""
    return {"summary": " ".join(["rises"] * max(int(words_asked(request) * length), 1))}


def strict(context: int | None, length: float = 1.0) -> StrictModel:
    def answer(request: Request) -> Any:
        return summary_of(request, length) if request.role == "critic:summary" else ACCEPT

    return StrictModel(answer, context_tokens=context)


def text_of(chars: int, number: int) -> str:
    """Lines with numbers, each of its own."""
    line = f"gene {number} has a mean of 2.0 in the cells of a cluster.\n"
    return (line * (chars // len(line) + 1))[:chars]


@pytest.mark.parametrize("budget", [2000, 6000, 12_000])
@pytest.mark.parametrize("context", CONTEXTS)
async def test_any_step_is_summarised_with_any_context(context: int, budget: int) -> None:
    for chars in (1000, 10_000, 20_000, 80_000, 500_000):
        for count in (1, 3, 20):
            model = strict(context)
            steps = [Step("tool", text_of(chars, number)) for number in range(count)]
            critic = Critic(model, CriticOptions(trajectory_tokens=budget))
            found = await critic.review("Which rise?", "T cells rise.", steps)
            where = f"{count} steps of {chars} characters"
            assert found.verdict is CriticVerdict.ACCEPT, where
            assert model.largest <= context, where
            assert not any("could not" in note or "left out" in note for note in found.notes), where
            prompt = content(model.requests[-1])
            assert "could not be summarised" not in prompt and "cut here" not in prompt, where
            shown = re.findall(r"\[\d+[^,\]]*, [^\]]+\]\n(\S+ \S+)", prompt)
            assert shown and all(one.startswith(("gene", "rises", "tool")) for one in shown), where
            calls = len(model.requests) - 1
            assert calls <= MOST_WINDOWS * 3 // 2
            if not any("were not read" in note for note in found.notes):
                read = sum(len(content(one)) for one in model.requests)
                assert read >= 0.9 * chars * count, f"{where}: all of it is read"
                window = min(context // 4, 4096)  # at least
                assert calls <= count + 1.5 * chars * count / 3 / window, where


@pytest.mark.parametrize("length", [0.1, 1.5, 4.0])
async def test_models_that_write_too_little_or_too_much(length: float) -> None:
    for context in CONTEXTS:
        model = strict(context, length)
        steps = [Step("tool", text_of(60_000, number)) for number in range(4)]
        found = await Critic(model).review("Which rise?", "T cells rise.", steps)
        assert found.verdict is CriticVerdict.ACCEPT
        assert model.largest <= context
        assert not any("could not" in note for note in found.notes)


async def test_what_is_too_long_to_be_read_is_named() -> None:
    model = strict(2048)
    critic = Critic(model)
    found = await critic.review("Which?", "T cells.", [Step("tool", text_of(4_000_000, 1))])
    assert found.verdict is CriticVerdict.ACCEPT
    (note,) = (one for one in found.notes if "were not read" in one)
    assert "in the middle of step 1" in note
    assert "characters in the middle were not read)" in content(model.requests[-1])
    assert 100 < len(model.requests) <= MOST_WINDOWS * 3 // 2


def test_a_chat_model_that_tells_no_context(caplog: pytest.LogCaptureFixture) -> None:
    """The case of a fresh user: one step of 20,000 characters, nothing set."""
    prompts: list[str] = []

    def answer(messages: Any) -> str:
        prompts.append(str(messages[-1].content))
        return ACCEPT if '"verdict"' in prompts[-1] else '{"summary": "cluster 3 rises twofold"}'

    def agent(task: str) -> Reply:
        return Reply("T cells rise", (Step("tool", text_of(20_000, 3)),))

    found = run_with_critic(agent, "Which rise?", ScriptedChat(answer=answer))
    assert found.stop_reason == "accepted"
    assert "cluster 3 rises twofold" in prompts[-1]
    critique = found.drafts[0].critique
    assert critique is not None
    assert critique.notes == ("1 of 1 steps were summarised to fit the critic's budget",)


async def test_a_window_that_fails_does_not_take_the_others_with_it() -> None:
    def answer(request: Request) -> Any:
        return "no JSON" if "<<here>>" in content(request) else summary_of(request)

    text = text_of(20_000, 1) + "<<here>>" + text_of(20_000, 2)
    condensed = await Condenser(StrictModel(answer, 4096), 2000).condense([Step("tool", text)])
    (step,) = condensed.steps
    assert step.text.startswith("rises rises")
    assert re.search(r"\([\d,]+ characters that could not be summarised\)$", step.text)
    assert any(re.search(r"^[\d,]+ characters of step 1 could not", one) for one in condensed.notes)
    assert "make several rows" not in str(condensed.notes)


async def test_a_model_that_is_gone_is_not_asked_for_each_window() -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Any:
        asked.append(request)
        raise CallError(UnscoredReason.TIMEOUT, "too slow")

    steps = [Step("tool", text_of(300_000, 1))]
    condensed = await Condenser(StrictModel(answer, 4096), 2000).condense(steps)
    assert len(asked) == 1, "the model answers at once: the second waits for the first"
    assert "(300,000 characters that could not be summarised)" in condensed.steps[0].text


async def test_no_room_at_all_is_said_and_nobody_is_asked() -> None:
    model = strict(4096)
    condensed = await Condenser(model, 0).condense([Step("tool", "x " * 500)] * 3)
    assert model.requests == []
    assert "3 steps of 3,000 characters left out" in condensed.steps[0].text
    assert "left out" in condensed.notes[0]


@pytest.mark.parametrize("context", CONTEXTS)
def test_windows_are_a_quarter_of_the_context_at_least(context: int) -> None:
    summariser = Summariser(strict(context))
    for tokens in (50, 500, 5000):
        assert summariser.windows_for(100_000, tokens) <= -(-100_000 // (context // 4)) or (
            context > 4 * 4096
        )


async def test_a_summary_that_can_not_be_shortened_is_cut_with_a_mark() -> None:
    """The first summaries are too long, and then the model is gone."""
    asked: list[Request] = []

    def answer(request: Request) -> Any:
        asked.append(request)
        if "gene" not in content(request):
            raise CallError(UnscoredReason.TIMEOUT, "too slow")
        return summary_of(request, 5.0)

    steps = [Step("tool", text_of(40_000, 1))]
    condensed = await Condenser(StrictModel(answer, 4096), 300).condense(steps)
    assert condensed.steps[0].text.endswith("(summary cut here)")
    assert len(condensed.steps[0].text) <= 3 * 300
    assert any("the summary of step 1 could not be" in note for note in condensed.notes)


async def test_very_many_steps_and_a_large_budget_stay_within_the_bound() -> None:
    model = strict(200_000)
    steps = [Step("tool", text_of(1000, number)) for number in range(3000)]
    condensed = await Condenser(model, 60_000).condense(steps)
    assert len(model.requests) <= MOST_WINDOWS * 3 // 2
    assert condensed.steps[-1].last == 3000

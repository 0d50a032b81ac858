"""What the critic costs beside the models' time: CPU per round.

The same agents, whose model answers at once, run with no critic, and with one that asks for a
revision each time and answers at once as well. The difference in CPU time, less what the agent's
own extra rounds cost, is the critic's: reading the state, the prompt, checking the reply, choosing
among the drafts.

    python bench/critic_overhead.py [--runs 100] [--rounds 3] [--steps 10] [--repeats 3]

Floor: the bare call of the critic's model through LangChain, with a schema for its reply
(`with_structured_output`): that is the model's time, whoever asks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

GOAL_MS = 2.0


def main() -> None:
    options = _parse()
    logging.disable(logging.WARNING)  # the scripted models take no sampling
    from langchain_core.messages import AIMessage, HumanMessage

    from basanite.graphs.end_critic import Reply, run_with_critic, with_end_critic
    from basanite.judges.critic import Step
    from basanite.judges.critic._critic import _REPLY_TOKENS, _schema
    from support.critic_agents import REVISE, asking, by_plain_graph
    from support.scripted_chat import ScriptedChat

    steps = [f"<observation>cluster {n}: 2.{n}</observation> " * 5 for n in range(options.steps)]

    def answer(messages: Any) -> str:
        return f"T cells rise, {len(messages)}"

    agent = ScriptedChat(answer=answer)
    critic = ScriptedChat(answer=lambda _: REVISE)
    reply = Reply("T cells rise", tuple(Step("tool", text) for text in steps))
    prompt = [HumanMessage("Which cells rise? " * 200)]

    loop = asyncio.new_event_loop()
    given = asking("plain_list")
    given["messages"] = [*(AIMessage(text) for text in steps), *given["messages"]]
    bare_graph = by_plain_graph(agent)
    graph = with_end_critic(bare_graph, critic, rounds=options.rounds)
    reviews = options.rounds + 1

    def bare_agent() -> None:
        for _ in range(reviews):
            bare_graph.invoke({**given, "messages": list(given["messages"])})

    structured = critic.with_structured_output(
        {"title": "review", "description": "", **_schema(_REPLY_TOKENS)}, include_raw=True
    )

    async def ask() -> None:
        await structured.ainvoke(prompt)

    def critics_model() -> None:
        for _ in range(reviews):
            loop.run_until_complete(ask())

    def function() -> None:
        run_with_critic(lambda task: reply, "Which cells rise?", critic, rounds=options.rounds)

    def around() -> None:
        graph.invoke({**given, "messages": list(given["messages"])})

    sides: dict[str, Callable[[], None]] = {
        "the agent's graph alone": bare_agent,
        "the critic's model alone": critics_model,
        "a function with a critic": function,
        "the graph with a critic": around,
    }
    found = {name: _cpu_ms(side, options) / reviews for name, side in sides.items()}
    floor = found["the critic's model alone"]
    own = {
        "run_with_critic": found["a function with a critic"] - floor,
        "with_end_critic": found["the graph with a critic"]
        - found["the agent's graph alone"]
        - floor,
    }
    loop.close()
    print(f"{options.runs} runs of {reviews} drafts, {options.steps} steps in the trajectory")
    for name, value in found.items():
        print(f"  {name:28} {value:7.3f} ms of CPU a draft")
    for name, value in own.items():
        print(
            f"{name:28} {value:7.3f} ms of CPU a round above the models, "
            f"{value / floor:.1f} times the floor (goal: {GOAL_MS:g} ms)"
        )
    print(json.dumps({"schema": "basanite.bench/1", "ms_per_round": own, "floor_ms": floor}))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args()


def _cpu_ms(side: Callable[[], None], options: argparse.Namespace) -> float:
    """CPU of all threads for one run, the median of the repeats."""
    side()
    found = []
    for _ in range(options.repeats):
        began = time.process_time()
        for _ in range(options.runs):
            side()
        found.append(1000 * (time.process_time() - began) / options.runs)
    return float(statistics.median(found))


if __name__ == "__main__":
    main()

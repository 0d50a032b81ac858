"""A critic in LangChain's agent: one line in `create_agent`.

    BASANITE_ENDPOINT=http://localhost:8000/v1 python examples/critic/langchain_agent.py
    BASANITE_ENDPOINT=embedded python examples/critic/langchain_agent.py

The agent's own model is a stand-in here that answers too early and, asked again, better: so the
example needs the critic's model only. Put any chat model in its place.
"""

from __future__ import annotations

import os
import sys

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from basanite import EndCritic
from basanite.errors import BasaniteError
from basanite.llm import ModelSpec
from basanite.schema import Criticised

TASK = "Which cells rise after treatment, and by how much?"
DRAFTS = ("T cells rise.", "CD8 T cells rise from 10 % to 20 % of all cells (p = 0.01).")


def main(critic: ModelSpec) -> None:
    """Run the agent, and show what became of its drafts."""
    model = GenericFakeChatModel(messages=iter([AIMessage(text) for text in DRAFTS]))
    agent = create_agent(model, tools=[], middleware=[EndCritic(critic)])
    state = agent.invoke({"messages": [{"role": "user", "content": TASK}]})
    result = Criticised.model_validate(state["critic"])
    for draft in result.drafts:
        verdict = draft.critique.verdict if draft.critique is not None else None
        print(f"draft {draft.round}: {draft.text} -> {verdict or 'no verdict'}")
    print(f"ended: {result.stop_reason}" + (f" ({result.message})" if result.message else ""))
    print(f"answer: {state['messages'][-1].content}")


if __name__ == "__main__":
    endpoint = os.environ.get("BASANITE_ENDPOINT")
    if not endpoint:
        sys.exit("Set BASANITE_ENDPOINT to a server's URL, or to 'embedded'.")
    try:
        main(ModelSpec(endpoint=endpoint, model=os.environ.get("BASANITE_MODEL") or None))
    except BasaniteError as error:
        sys.exit(str(error))

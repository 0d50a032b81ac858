"""A critic around a plain function: the shortest agent that there can be.

    BASANITE_ENDPOINT=http://localhost:8000/v1 python examples/critic/function.py
    BASANITE_ENDPOINT=embedded python examples/critic/function.py

`BASANITE_MODEL` names the critic's model where the endpoint has several.
"""

from __future__ import annotations

import os
import sys

from basanite import run_with_critic
from basanite.errors import BasaniteError
from basanite.graphs.end_critic import Reply
from basanite.judges.critic import Step
from basanite.llm import ModelSpec

TASK = "Does CD79A mark the B cells of this blood sample? Give a number."
MEASURED = "CD79A is detected in 98.9 % of the B cells and in 6.0 % of the other cells."


def agent(task: str) -> Reply:
    """Answer at once, and with the number only where a reviewer asks again."""
    steps = (Step("tool", MEASURED),)
    return Reply(f"Yes. {MEASURED}" if "reviewer" in task else "Yes, it does.", steps)


def main(model: ModelSpec) -> None:
    """Run the agent with a critic, and show what became of its drafts."""
    result = run_with_critic(agent, TASK, model, rounds=1)
    for draft in result.drafts:
        critique = draft.critique
        print(f"draft {draft.round}: {draft.text}")
        if critique is not None and critique.verdict is not None:
            points = [*critique.missing, *critique.checks]
            print(f"  {critique.verdict}, {critique.rating} of 5: {'; '.join(points) or '-'}")
    print(f"ended: {result.stop_reason}" + (f" ({result.message})" if result.message else ""))
    print(f"answer: {result.answer}")


if __name__ == "__main__":
    endpoint = os.environ.get("BASANITE_ENDPOINT")
    if not endpoint:
        sys.exit("Set BASANITE_ENDPOINT to a server's URL, or to 'embedded'.")
    try:
        main(ModelSpec(endpoint=endpoint, model=os.environ.get("BASANITE_MODEL") or None))
    except BasaniteError as error:
        sys.exit(str(error))

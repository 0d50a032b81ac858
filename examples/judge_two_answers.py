"""Judge two answers to one question from Python.

    BASANITE_ENDPOINT=http://localhost:8000/v1 python examples/judge_two_answers.py
    BASANITE_ENDPOINT=embedded python examples/judge_two_answers.py

`BASANITE_MODEL` names the model where the endpoint has several.
"""

from __future__ import annotations

import asyncio
import os
import sys

from basanite.errors import BasaniteError
from basanite.extractors import ClaimExtractor
from basanite.graphs import ClaimParts, as_judge, build_claim_entailment
from basanite.judges import EntailmentChecker
from basanite.llm import ModelSpec, open_model
from basanite.schema import Answer, Judgment

QUESTION = "Does CD79A mark the B cells of this blood sample?"
TRUTH = "CD79A marks the B cells. It is detected in 98.9% of them against 6.0% of the other cells."
ANSWERS = {
    "right": "Yes. Nearly every B cell shows CD79A (98.9%), and few of the other cells do.",
    "wrong": "No. CD79A is detected in 6.0% of the B cells against 98.9% of the other cells.",
}


def show(judgment: Judgment) -> None:
    """Print the scores of one answer and the label of each claim."""
    print(f"\n{judgment.subject_id}: {ANSWERS[judgment.subject_id]}")
    for name in ("precision", "recall", "f1"):
        score = judgment.scores[name]
        value = score.unscored_reason if score.value is None else f"{score.value:.2f}"
        print(f"  {name}: {value}")
    texts = {claim.id: claim.text for claim in judgment.claims}
    for verdict in judgment.verdicts:
        said = verdict.label or verdict.unscored_reason
        print(f"  {said:12} by the {verdict.against}: {texts[verdict.claim_id]}")


async def main(spec: ModelSpec) -> None:
    """Judge both answers at the same time, with one model for extracting and checking."""
    async with open_model(spec, None) as model:
        parts = ClaimParts(ClaimExtractor(model), EntailmentChecker(model))
        judge = as_judge(build_claim_entailment(parts), parts.profile())
        answers = [
            Answer(id=name, question=QUESTION, answer=text, truth=TRUTH)
            for name, text in ANSWERS.items()
        ]
        for judgment in await asyncio.gather(*(judge.judge(answer) for answer in answers)):
            show(judgment)


if __name__ == "__main__":
    endpoint = os.environ.get("BASANITE_ENDPOINT")
    if not endpoint:
        sys.exit("Set BASANITE_ENDPOINT to a server's URL, or to 'embedded'.")
    try:
        asyncio.run(main(ModelSpec(endpoint=endpoint, model=os.environ.get("BASANITE_MODEL"))))
    except BasaniteError as error:
        sys.exit(f"{error}")

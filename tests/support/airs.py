"""Runs and task folders in the shape of AIRS-Bench, for tests and the bench."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from basanite.suites.airs import AirsRun, airs_tasks, published_figures

ZINC = "GraphRegressionZincMae"
SVAMP = "MathQuestionAnsweringSVAMPAccuracy"
SICK = "TextualClassificationSickAccuracy"
RIDESHARE = "TimeSeriesForecastingRideshareMAE"
YELP = "SentimentAnalysisYelpReviewFullAccuracy"
FIVE = (ZINC, SVAMP, SICK, RIDESHARE, YELP)


def run(
    agent: str, task: str, seed: int, score: float | None, *, valid: bool | None = None
) -> AirsRun:
    """One run; valid where it has a score, unless said otherwise."""
    return AirsRun(agent, task, str(seed), score, score is not None if valid is None else valid)


def synthetic_runs(seed: int = 0, seeds: int = 10, n_agents: int = 14) -> list[AirsRun]:
    """Runs on all tasks around the levels of the published agents; nobody is perfect.

    An agent has a level of its own on each task, and its seeds vary around that.
    """
    random = np.random.default_rng(seed)
    runs = []
    for figures in published_figures().agents[-n_agents:]:
        for task in airs_tasks().values():
            mean = figures.ns / figures.vsr + random.normal(0, 0.25)
            share = min(1.0, max(0.05, figures.vsr + random.normal(0, 0.15)))
            worst, best = (-math.log10(abs(one - task.s_opt)) for one in (task.s_min, task.s_sota))
            for number in range(seeds):
                ns = min(1.2, max(0.0, min(1.05, max(0.0, mean)) + random.normal(0, 0.1)))
                gap = 10 ** -(worst + ns * (best - worst))
                score = gap if task.lower_is_better else 1 - gap
                valid = random.random() < share
                runs.append(run(figures.agent, task.task, number, score if valid else None))
    return runs


EVALUATOR = """
import argparse, csv, json, os, sys
from utils import rows  # in the task's folder

parser = argparse.ArgumentParser()
parser.add_argument("--submission-file", required=True)
given = rows(parser.parse_args().submission_file)
truth = rows(os.path.join("data", "test_with_labels", "labels.csv"))
print("loading", {"not": "json"})
if len(given) != len(truth):
    parser.error("the submission has %d rows" % len(given))
score = sum(a == b for a, b in zip(given, truth)) / len(truth)
print("--- EVALUATION RESULT ---")
print(json.dumps({"Accuracy": score}, indent=2))
"""

METADATA = """\
metric_lower_is_better: false
file_export_globs:
  - submission.csv
evaluate_container_python_requirements: datasets==4.0.0
logging_info:
  name: MathQuestionAnsweringSVAMPAccuracy
  category: Math
  research_problem: Math Question Answering
  output_type: Number
  dataset: ChilleD/SVAMP
  metric: Accuracy
  shape: 300,1
  optimal_score: 1.0
  estimated_worst_score: 0.0
  sota:
    - sota_score: 0.9
    - sota_score: 0.942
   \t
"""


def write_task(folder: Path, evaluator: str = EVALUATOR) -> Path:
    """Write a task's folder in the published format, its labels beside it in `data`."""
    task = folder / "task"
    labels = folder / "data" / "test_with_labels"
    for made in (task, labels):
        made.mkdir(parents=True)
    (task / "metadata.yaml").write_text(METADATA, encoding="utf-8")
    (task / "project_description.md").write_text("Answer the questions.\n", encoding="utf-8")
    (task / "prepare.py").write_text("", encoding="utf-8")
    (task / "evaluate.py").write_text(evaluator, encoding="utf-8")
    (task / "utils.py").write_text(
        "import csv\ndef rows(path):\n    return [row[0] for row in csv.reader(open(path))][1:]\n",
        encoding="utf-8",
    )
    (labels / "labels.csv").write_text("Answer\n1\n2\n3\n4\n", encoding="utf-8")
    # An older submission, which is right: it must not be what is graded.
    (folder / "data" / "submission.csv").write_text("Answer\n1\n2\n3\n4\n", encoding="utf-8")
    return task

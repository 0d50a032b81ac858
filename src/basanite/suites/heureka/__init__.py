"""HeurekaBench: open and multiple-choice questions on insights of papers, scored both ways.

Question files in the published and in a structured form; ratings and letters of agents, as
published and as we would; groups of a critic study; a code matcher's recall and precision; a
judge's agreement with experts. The published figures and the questions' ids are package data; no
question's text is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._door import lazy

if TYPE_CHECKING:
    from ._agreement import (
        ExpertAgreement,
        ExpertRating,
        RaterAgreement,
        expert_agreement,
        read_ratings,
    )
    from ._boards import AskedQuestions, heureka_boards
    from ._codematcher import (
        CodeMatches,
        FilePool,
        MatchCounts,
        MatchedInsight,
        MatchFigures,
        code_matches,
    )
    from ._critics import CriticFigures, CriticGroup, critic_figures
    from ._match_files import gold_files, retrieved_files, script_pool
    from ._published import (
        HeurekaFigures,
        PublishedResult,
        PublishedSet,
        published_figures,
        published_set,
    )
    from ._question_file import (
        agent_tasks,
        judge_rows,
        question_json,
        question_set,
        with_categories,
    )
    from ._questions import HeurekaInsight, HeurekaQuestion, Kind, PlacedQuestion, QuestionSet
    from ._results import HeurekaResult, read_results, results_of_answers, results_of_run
    from ._score import HeurekaScores, PublishedFigure, question_baselines, score_results

_HOMES = {
    "AskedQuestions": "_boards",
    "CodeMatches": "_codematcher",
    "CriticFigures": "_critics",
    "CriticGroup": "_critics",
    "ExpertAgreement": "_agreement",
    "ExpertRating": "_agreement",
    "FilePool": "_codematcher",
    "HeurekaFigures": "_published",
    "HeurekaInsight": "_questions",
    "HeurekaQuestion": "_questions",
    "HeurekaResult": "_results",
    "HeurekaScores": "_score",
    "Kind": "_questions",
    "MatchCounts": "_codematcher",
    "MatchFigures": "_codematcher",
    "MatchedInsight": "_codematcher",
    "PlacedQuestion": "_questions",
    "PublishedFigure": "_score",
    "PublishedResult": "_published",
    "PublishedSet": "_published",
    "QuestionSet": "_questions",
    "RaterAgreement": "_agreement",
    "agent_tasks": "_question_file",
    "code_matches": "_codematcher",
    "critic_figures": "_critics",
    "expert_agreement": "_agreement",
    "gold_files": "_match_files",
    "heureka_boards": "_boards",
    "judge_rows": "_question_file",
    "published_figures": "_published",
    "published_set": "_published",
    "question_baselines": "_score",
    "question_json": "_question_file",
    "question_set": "_question_file",
    "read_ratings": "_agreement",
    "read_results": "_results",
    "results_of_answers": "_results",
    "results_of_run": "_results",
    "retrieved_files": "_match_files",
    "score_results": "_score",
    "script_pool": "_match_files",
    "with_categories": "_question_file",
}


__getattr__ = lazy(__name__, _HOMES)


__all__ = [
    "AskedQuestions",
    "CodeMatches",
    "CriticFigures",
    "CriticGroup",
    "ExpertAgreement",
    "ExpertRating",
    "FilePool",
    "HeurekaFigures",
    "HeurekaInsight",
    "HeurekaQuestion",
    "HeurekaResult",
    "HeurekaScores",
    "Kind",
    "MatchCounts",
    "MatchFigures",
    "MatchedInsight",
    "PlacedQuestion",
    "PublishedFigure",
    "PublishedResult",
    "PublishedSet",
    "QuestionSet",
    "RaterAgreement",
    "agent_tasks",
    "code_matches",
    "critic_figures",
    "expert_agreement",
    "gold_files",
    "heureka_boards",
    "judge_rows",
    "published_figures",
    "published_set",
    "question_baselines",
    "question_json",
    "question_set",
    "read_ratings",
    "read_results",
    "results_of_answers",
    "results_of_run",
    "retrieved_files",
    "score_results",
    "script_pool",
    "with_categories",
]

"""Words that summaries, reports and exports share."""

NOT_JUDGED = "not_judged"
"""Stands for a reason where a run has not come to a row, such as after it was stopped."""

NOT_REPORTED = "not_reported"
"""Stands for a reason where a judgment lacks a score that others of the run have."""

NOT_VALIDATED = "judge not validated"
"""Said of every judge that nobody has measured against people."""

"""The card (`README.md`) of a dataset: what the Hub reads, and what people should know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..schema import NOT_VALIDATED, ModelIdentity
from ._manifest import Manifest
from ._numbers import RunNumbers, ScoreNumbers
from ._public import public_fingerprint, public_name

MARKER = "# basanite.huggingface/1"
"""Stands at the top of each card, so that an earlier export is known as one."""

_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
    (10**9, "100M<n<1B"),
)

_DTYPES = {"double": "float64"}
"""Arrow's names of types to those of `datasets`, where they differ."""

_FRONT = """\
---
{marker}
# license: none was chosen. Name here (and below) the one under which these texts may be shared.
pretty_name: Answers judged by basanite
size_categories:
- {size}
tags:
- basanite
- evaluation
- llm-as-a-judge
configs:
- config_name: default
  data_files:
  - split: test
    path: data/*.parquet
dataset_info:
  config_name: default
  features:
{features}
---

# Answers judged by basanite

{rows} with one judgment each. **{validation}**: nobody has measured how far these scores agree
with people's. Treat them as what one judge says, not as the truth.

## Licence

basanite chose none: questions, answers, truths and contexts are those of the file that was
judged, and whoever shares them must name the licence. Fill in `license` at the top.

"""

_COLUMNS = """\
## Columns

| column | holds |
|---|---|
| `id`, `task`, `agent`, `trial` | the row's own; intervals are clustered by `task` |
| `status` | `judged`, `not_judged` or `invalid_row` |
| `question`, `answer`, `truth` | the row's texts; null where the row was invalid |
| `contexts`, `options` | retrieved passages and choices; null where the row has none |
| `human` | people's labels, as a JSON object |
| `score_NAME`, `score_NAME_low`, `score_NAME_high` | a score and its bounds; null is no zero |
| `score_NAME_unscored` | why there is no score: a reason, `not_judged`, `invalid_row` or \
`not_reported` |
| `primary`, `score_mode`, `probability_mass` | which score stands for the whole, how it was made |
| `claims`, `verdicts`, `facts`, `fact_verdicts` | JSON arrays: what was judged, and how |
| `choice`, `probabilities` | JSON objects: what was chosen; of each valid value |
| `message`, `notes` | what went wrong, what a reader should know; addresses and paths taken out |
| `judge`, `fingerprint`, `subject_digest` | what judged, and what it saw |
| `calls` … `seconds` | what the judgment used |

Rows stand in the order of the input. The judge's raw replies are not here.

## Use

```python
from datasets import load_dataset

rows = load_dataset("path/to/this/folder", split="test")
```
"""


def card(manifest: Manifest, numbers: RunNumbers, schema: Any, *, rows: int) -> str:
    """Give the text of a card.

    Nothing of the command line, of paths, addresses or the machine stands in it.

    Args:
        manifest: how the run was made.
        numbers: its scores.
        schema: the Arrow schema of the files.
        rows: how many rows the dataset holds.
    """
    front = _FRONT.format(
        size=_size(rows),
        features="\n".join(_features(schema, "  ")),
        marker=MARKER,
        rows=f"{rows} row" if rows == 1 else f"{rows} rows",
        validation=NOT_VALIDATED.capitalize(),
    )
    return front + _scores(numbers) + _judge(manifest) + _COLUMNS


def _size(rows: int) -> str:
    return next((name for bound, name in _SIZES if rows < bound), "1B<n<10B")


def _features(fields: Iterable[Any], indent: str) -> Iterator[str]:
    """Give the lines of YAML in which `datasets` writes columns and their types."""
    for field in fields:
        yield f"{indent}- name: {_quoted(field.name)}"
        kind = field.type
        if not hasattr(kind, "value_type"):
            yield f"{indent}  dtype: {_DTYPES.get(str(kind), str(kind))}"
        elif hasattr(kind.value_type, "fields"):
            yield f"{indent}  list:"
            yield from _features(kind.value_type.fields, f"{indent}  ")
        else:
            yield f"{indent}  list: {_DTYPES.get(str(kind.value_type), str(kind.value_type))}"


def _quoted(text: str) -> str:
    """Give a text as a scalar of YAML, which unlike JSON has no pairs of escapes."""
    plain = (
        one if one.isascii() and one.isprintable() and one not in '"\\' else f"\\U{ord(one):08x}"
        for one in text
    )
    return f'"{"".join(plain)}"'


def _scores(numbers: RunNumbers) -> str:
    lines = [
        "## Scores\n",
        f"{numbers.n_scored} of {numbers.n_total} rows have the primary score, "
        f"`{_cell(numbers.primary)}`. Intervals are 95 %, clustered by task.\n",
        "| score | mean | interval | scored | unscored | why |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_score(name, score) for name, score in numbers.scores.items()]
    return "\n".join(lines) + "\n\n"


def _score(name: str, score: ScoreNumbers) -> str:
    mean = score.mean
    interval = (
        mean.reason or "none"
        if mean.low is None or mean.high is None
        else f"{mean.low:.3f} to {mean.high:.3f}"
    )
    why = ", ".join(f"{count} {reason}" for reason, count in score.unscored.items())
    cells = (
        f"`{_cell(name)}`",
        "none" if mean.value is None else f"{mean.value:.3f}",
        interval,
        str(mean.n),
        str(score.n_total - mean.n),
        _cell(why),
    )
    return f"| {' | '.join(cells)} |"


def _judge(manifest: Manifest) -> str:
    judge = manifest.judge
    rows: Mapping[str, str] = {
        "judge": judge.judge,
        "model": _model(judge.model),
        "fingerprint": f"`{manifest.fingerprint_digest}`",
        "made": manifest.created,
        "basanite": manifest.basanite,
        "SHA-256 of the input": f"`{manifest.input.sha256}`",
    }
    table = "\n".join(f"| {name} | {_cell(value)} |" for name, value in rows.items())
    whole = json.dumps(public_fingerprint(judge, manifest), indent=2, ensure_ascii=False)
    return (
        f"## Judge\n\n| | |\n|---|---|\n{table}\n\n"
        "Rows with the same fingerprint come from the same judge, prompts, model and sampling. Of "
        f"paths only the last part is shown:\n\n{_fenced(whole)}\n\n"
    )


def _model(model: ModelIdentity) -> str:
    return "none" if model.kind == "none" else f"{public_name(model.name)} ({model.kind})"


def _cell(text: str) -> str:
    """Give a text that can't end its cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}json\n{text}\n{fence}"

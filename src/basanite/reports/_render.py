"""Templates of the page, with escaping and number formats set once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

import jinja2
from markupsafe import Markup

from ..stats import Coefficient, Estimate
from ._section import Section
from ._text import percent, shortened, visible


def render(template: str, **values: object) -> Markup:
    """Fill one template; every text in it is escaped unless it is `Markup`."""
    # Safe as far as the templates are: the environment escapes what goes into them.
    return Markup(environment().get_template(template).render(**values))


@lru_cache(maxsize=1)
def environment() -> jinja2.Environment:
    """Give the one environment: autoescape on, undefined names are errors."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("basanite.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    made.filters.update(
        num=num,
        interval=interval,
        count=count,
        share=share,
        words=words,
        p_value=p_value,
        percent=percent,
    )
    return made


def asset(name: str) -> str:
    """Give the text of a file beside the templates."""
    return files("basanite.reports").joinpath("templates", name).read_text(encoding="utf-8")


def num(value: float | None, digits: int = 3) -> str:
    """Write a number with fixed digits, so that columns line up; `n/a` for none."""
    return "n/a" if value is None else f"{value:.{digits}f}".replace("-", "−")


def interval(estimate: Estimate | Coefficient, digits: int = 3) -> str:
    """Write an interval as `[low, high]`, or why there is none."""
    if estimate.low is None or estimate.high is None:
        return f"no interval: {estimate.reason}" if estimate.reason else "no interval"
    return f"[{num(estimate.low, digits)}, {num(estimate.high, digits)}]"


def count(value: float | None) -> str:
    """Write a whole number with separators; `not reported` for none."""
    return "not reported" if value is None else f"{value:,.0f}"


def share(value: float) -> str:
    """Write a share from 0 to 1 as a percentage."""
    return f"{100 * value:.1f} %"


def p_value(value: float | None) -> str:
    """Write a p-value with three digits, small ones as `< 0.001`."""
    if value is None:
        return "n/a"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def words(reasons: Mapping[str, int]) -> str:
    """Write reasons with their counts, the most frequent first."""
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in ordered)


def _finalize(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(shortened(value))
    return value


def section_body(section: Section) -> Markup:
    """Give a section's HTML; a plain text becomes a paragraph."""
    if isinstance(section.body, Markup):
        return section.body
    return Markup("<p>{}</p>").format(visible(shortened(section.body)))

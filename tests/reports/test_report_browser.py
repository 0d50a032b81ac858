"""The page in a real browser: it opens, searches and unfolds without an error or a request."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from basanite.reports import write_report
from basanite.schema import Answer, UnscoredReason
from support import chromium
from support.fake_runs import make_answer, make_judgment, make_run, make_unscored

pytestmark = pytest.mark.skipif(chromium.BINARY is None, reason=chromium.SKIP_REASON)

_BODY = "document.querySelector('.item-body')?.textContent"
_COUNT = "document.getElementById('item-count').textContent"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    profile = tmp_path_factory.mktemp("profile")
    with chromium.Page(profile) as opened:
        yield opened


@pytest.fixture
def report(tmp_path: Path) -> Path:
    run = make_run(150)
    rows = [row for row in run.rows if isinstance(row, Answer)]
    run.judged[4] = make_unscored(rows[4], UnscoredReason.TIMEOUT, "no reply in 600 s")
    evil = "</script><img src=http://127.0.0.1:9/x onerror=\"console.log('hit')\">\u202e É"
    row = make_answer(149, id="evil", answer=evil, question=evil, task=evil)
    run.rows[149], run.judged[149] = row, make_judgment(row, 0.01, message=evil, notes=(evil,))
    out = tmp_path / "report.html"
    write_report([run, make_run(150, judge="other")], out)
    return out


def _choose(page: chromium.Page, element: str, value: str) -> str:
    page.run(
        f"(() => {{const e = document.getElementById('{element}'); e.value = {value!r};"
        "e.dispatchEvent(new Event('change')); e.dispatchEvent(new Event('input'));})()"
    )
    page.run("0")
    text: str = page.run(_COUNT)
    return text


def test_items_open_and_close_without_errors_or_requests(page: chromium.Page, report: Path) -> None:
    page.open(report)
    assert page.run(_COUNT) == "151 of 151 items, 100 listed"
    assert page.run(_BODY) is None
    page.run("document.querySelector('.item-head').click()")
    body = page.run(_BODY)
    for part in ("CD8+ T cells", "entailed", "quote not in the text", "ended within a string"):
        assert part in body
    page.run("document.querySelector('.item-head').click()")
    assert page.run(_BODY) is None
    page.run("document.getElementById('item-more').click()")
    assert page.run("document.querySelectorAll('.item-head').length") == 151
    page.run("document.querySelectorAll('.item-head').forEach((head) => head.click())")
    assert page.run("document.querySelectorAll('.item-body').length") == 151
    assert page.run("document.querySelectorAll('img, iframe, form').length") == 0
    assert page.console == []
    assert set(page.requests) == {report.resolve().as_uri()}


def test_filters_and_search_find_items(page: chromium.Page, report: Path) -> None:
    page.open(report)
    assert _choose(page, "item-status", "reason:timeout") == "1 of 151 items"
    assert _choose(page, "item-status", "") == "151 of 151 items, 100 listed"
    assert _choose(page, "item-order", "low").startswith("151")
    assert page.run("document.querySelector('.item-id').textContent") == "evil"
    found = page.run(
        "new Promise((done) => {const s = document.getElementById('item-search');"
        "s.value = '</SCRIPT><img SRC=http://127.0.0.1:9/x onerror=\"c';"
        "s.dispatchEvent(new Event('input'));"
        f"setTimeout(() => done({_COUNT}), 600);}})",
        wait=True,
    )
    assert found == "1 of 151 items"
    page.run("document.querySelector('.item-head').click()")
    assert "U+202E" in page.run(_BODY)


@pytest.mark.parametrize("dark", [False, True])
def test_a_telephone_needs_no_sideways_scrolling(
    page: chromium.Page, report: Path, dark: bool
) -> None:
    page.open(report, width=390, dark=dark)
    page.run("document.querySelector('.item-head').click()")
    assert page.run("document.documentElement.scrollWidth") <= 390
    ground = page.run("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(20, 23, 26)") is dark

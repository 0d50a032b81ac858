"""The page for those who see little, hear it read, or use no mouse; and on paper."""

import base64
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from basanite.reports import write_report
from support import chromium
from support.fake_runs import FakeRun, make_manifest
from support.report_samples import (
    agent_answers,
    choice_run,
    claims_run,
    facts_run,
    failing_run,
    rating_run,
)

pytestmark = pytest.mark.skipif(chromium.BINARY is None, reason=chromium.SKIP_REASON)

_KEYS = {"Tab": 9, "Enter": 13, "ArrowDown": 40, "n": 78}

# Texts whose colour is too near to what they stand on: WCAG 2.2, success criterion 1.4.3.
_TOO_FAINT = """(() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const faint = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest("script, .unseen")) continue;
    seen += 1;
    const style = getComputedStyle(element);
    const color = rgba(element.closest("svg") ? style.fill : style.color);
    const [low, high] = [light(color), light(ground(element))].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) faint.push([ratio.toFixed(2), walker.currentNode.data.trim().slice(0, 40)]);
  }
  return [seen, faint];
})()"""

_HEADINGS = (
    "[...document.querySelectorAll('h1, h2, h3, h4')].filter((e) => e.checkVisibility())"
    ".map((e) => Number(e.localName[1]))"
)
_FOCUSED = "document.activeElement.textContent"
_OPEN = "[...document.querySelectorAll('.item-head[aria-expanded=true]')].map((e) => e.innerText)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    with chromium.Page(tmp_path_factory.mktemp("profile"), seconds=120) as opened:
        yield opened


def _runs(kind: str) -> list[FakeRun]:
    rows = agent_answers(8)
    return {
        "claims": [claims_run(rows), claims_run(rows, shift=-0.2)],
        "geval": [facts_run(rows), rating_run(rows)],
        "choice": [choice_run(6)],
        "failing": [failing_run(rows)],
        "empty": [FakeRun(make_manifest(rows=0), [], [])],
    }[kind]


def _open(page: chromium.Page, folder: Path, kind: str, *, dark: bool = False) -> None:
    out = folder / "report.html"
    write_report(_runs(kind), out)
    page.open(out, dark=dark)
    page.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.run("[...document.querySelectorAll('.item-head')].slice(0, 3).forEach((e) => e.click())")


def _press(page: chromium.Page, key: str) -> None:
    told: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": _KEYS[key]}
    if key == "Enter":
        told["text"] = "\r"
    page.send("Input.dispatchKeyEvent", type="keyDown", **told)
    page.send("Input.dispatchKeyEvent", type="keyUp", **told)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["claims", "geval", "choice", "failing", "empty"])
def test_text_stands_out_from_its_ground(
    page: chromium.Page, tmp_path: Path, kind: str, dark: bool
) -> None:
    _open(page, tmp_path, kind, dark=dark)
    seen, faint = page.run(_TOO_FAINT)
    assert seen > 50
    assert not faint


@pytest.mark.parametrize("kind", ["claims", "geval", "choice", "failing"])
def test_everything_that_acts_or_shows_has_a_name(
    page: chromium.Page, tmp_path: Path, kind: str
) -> None:
    _open(page, tmp_path, kind)
    page.send("Accessibility.enable")
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    page.send("Accessibility.disable")
    roles: dict[str, list[str]] = {}
    for node in nodes:
        if not node.get("ignored"):
            role = str(node["role"]["value"])
            roles.setdefault(role, []).append(str(node.get("name", {}).get("value", "")))
    for role in ("button", "link", "searchbox", "combobox", "image", "region", "columnheader"):
        assert roles.get(role), role
        assert all(name.strip() for name in roles[role]), role
    for landmark in ("banner", "navigation", "main", "contentinfo", "search"):
        assert len(roles.get(landmark, [])) == 1, landmark
    assert any("Distribution of" in name for name in roles["image"])


@pytest.mark.parametrize("kind", ["claims", "geval", "failing", "empty"])
def test_headings_leave_out_no_level_and_ids_are_unique(
    page: chromium.Page, tmp_path: Path, kind: str
) -> None:
    _open(page, tmp_path, kind)
    levels = page.run(_HEADINGS)
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = page.run("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(set(ids)) == len(ids)


def test_the_keyboard_reaches_and_opens_items(page: chromium.Page, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    write_report(_runs("claims"), out)
    page.open(out)
    stops = []
    for _ in range(4):
        _press(page, "Tab")
        stops.append(page.run(_FOCUSED).strip())
    assert stops == ["Skip to the report", "Overview", "Scores", "Distributions"]
    outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.run("document.querySelector('.item-head').focus()")
    _press(page, "Enter")
    (first,) = page.run(_OPEN)
    _press(page, "n")
    (second,) = page.run(_OPEN)
    assert second != first
    assert page.run("location.hash").startswith("#item-")
    _press(page, "ArrowDown")
    third = page.run("document.activeElement.innerText")
    assert third not in {first, second}


def test_a_link_opens_its_item_and_a_count_shows_its_items(
    page: chromium.Page, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    write_report(_runs("failing"), out)
    page.open(out)
    page.run("location.hash = '#item-donor-003%2Fcoder'")
    page.run("new Promise((done) => setTimeout(done, 50))", wait=True)
    (opened,) = page.run(_OPEN)
    assert "donor-003/coder" in opened
    page.run("document.querySelector('a[data-status=\"reason:timeout\"]').click()")
    wanted = page.run(
        "parseInt(document.querySelector('[data-status=\"reason:timeout\"]').innerText)"
    )
    shown = page.run("[...document.querySelectorAll('.item-values')].map((e) => e.innerText)")
    assert len(shown) == wanted > 0
    assert all("timeout" in text for text in shown)


def test_new_kinds_of_judgment_are_shown_on_their_items(
    page: chromium.Page, tmp_path: Path
) -> None:
    _open(page, tmp_path, "geval")
    marks = page.run(
        "[...document.querySelectorAll('.text mark')].map((e) => [e.innerText, e.title])"
    )
    assert ["is expressed in", "A t1 present"] in marks
    body = page.run("document.querySelector('.item-body').innerText")
    for part in ("present derived from the data", "missing", "reply cut", "score mode: weighted"):
        assert part in body
    assert "probability mass on valid labels 0.940" in body
    bars = page.run(
        "[...document.querySelectorAll('.item-body')][0].querySelectorAll('.share').length"
    )
    assert bars == 5
    _open(page, tmp_path, "choice")
    options = page.run(
        "[...document.querySelector('.options').children].map((e) => [e.className, e.innerText])"
    )
    assert [kind for kind, _ in options] == ["wrong", "missed", "wrong", ""]
    assert options[1][1].startswith("B B cells")
    assert "right" in options[1][1]
    assert "chooses none" in page.run("document.querySelector('#item-list').innerText")


def test_tables_sort_by_any_column_with_missing_values_last(
    page: chromium.Page, tmp_path: Path
) -> None:
    _open(page, tmp_path, "failing")
    rows = "[...document.querySelector('#tasks table').tBodies[0].rows]"
    values = f"{rows}.map((row) => row.cells[1].dataset.value)"
    click = "document.querySelectorAll('#tasks .sorter')[1].click()"
    page.run(click)
    found = page.run(values)
    known = [float(value) for value in found if value]
    assert known == sorted(known, reverse=True)
    assert found == [value for value in found if value] + [value for value in found if not value]
    page.run(click)
    assert [float(value) for value in page.run(values) if value] == known[::-1]
    assert page.run("document.querySelectorAll('#tasks th')[1].ariaSort") == "ascending"


def test_the_page_prints(page: chromium.Page, tmp_path: Path) -> None:
    _open(page, tmp_path, "claims")
    page.send("Emulation.setEmulatedMedia", media="print")
    for hidden in ("nav", ".tools", "footer"):
        assert not page.run(f"document.querySelector('{hidden}').checkVisibility()")
    assert page.run("document.querySelector('#scores').checkVisibility()")
    assert page.run("getComputedStyle(document.querySelector('.text')).overflowY") == "visible"
    pdf = base64.b64decode(page.send("Page.printToPDF")["data"])
    page.send("Emulation.setEmulatedMedia", media="")
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") + pdf.count(b"/Type /Page/") > 2

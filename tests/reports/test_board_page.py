"""The page and the drawings of boards: what they say, and what they look like in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from basanite.errors import InputError
from basanite.reports import (
    Board,
    BoardRow,
    Section,
    board_numbers,
    board_plots,
    board_sections,
    is_plot,
    leaderboard_section,
    write_board_report,
)
from basanite.reports._board_figures import (
    board_axis,
    cost_plot,
    heat_axis,
    heat_map,
    on_front,
    shade,
)
from support import chromium
from support.boards import AGENTS, board_of, full_board

_SVG = "{http://www.w3.org/2000/svg}"

needs_browser = pytest.mark.skipif(chromium.BINARY is None, reason=chromium.SKIP_REASON)


def _text(section: Section) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", str(section.body)))


def _by_id(board: Board) -> dict[str, Section]:
    return {section.id: section for section in board_sections(board)}


def test_a_full_board_has_all_sections_and_a_bare_one_only_what_it_can_say() -> None:
    assert list(_by_id(full_board())) == [
        "about",
        "leaderboard",
        "groups",
        "comparison",
        "tasks",
        "trials",
        "cost",
        "unscored",
    ]
    bare = _by_id(board_of({"a": {"t": [0.5]}}))
    assert list(bare) == ["about", "leaderboard", "tasks", "trials"]
    assert "1 agent on 1 task" in _text(bare["about"])
    assert "nothing can be said of how much a run differs" in _text(bare["trials"])
    assert "no interval: fewer than two tasks" in _text(bare["leaderboard"])


def test_sections_say_the_numbers_and_the_gaps() -> None:
    board = full_board()
    found, sections = board_numbers(board), _by_id(board)
    leaderboard = _text(sections["leaderboard"])
    for one in found.agents:
        assert f"{one.mean.value:.3f}" in leaderboard
        assert f"{one.sd_tasks:.3f}" in leaderboard
        assert f"{one.sd_runs:.3f}" in leaderboard
    assert "Agent B : not tried on 1 task (task-7)" in leaderboard
    assert "no value on 1 (task-5)" in leaderboard
    assert "137 of 141 trials have a value" in _text(sections["about"])
    assert "A note on these numbers." in _text(sections["about"])
    assert "4 trials without a value" in _text(sections["unscored"])
    assert str(sections["tasks"].body).count("lacking") == 1
    assert str(sections["tasks"].body).count(">–</td>") == 1


def test_names_from_files_stay_text(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    write_board_report([full_board()], out)
    assert "<script>alert" not in out.read_text(encoding="utf-8")


def test_many_agents_without_a_baseline_get_no_pairs_but_a_way_to_them() -> None:
    board = board_of({f"a{number:02}": {"t": [0.5], "u": [0.6]} for number in range(41)})
    sections = _by_id(board)
    assert "Name a baseline" in _text(sections["comparison"])
    assert "the first 40 of 41 agents" in _text(sections["leaderboard"])
    against = board_sections(board, baseline="a07")
    (comparison,) = (section for section in against if section.id == "comparison")
    assert _text(comparison).count("− a07") == 40


def test_several_boards_share_a_page_and_can_be_told_apart(tmp_path: Path) -> None:
    values = {"a": {"t": [0.5]}, "b": {"t": [0.6]}}
    rows = board_of(values).rows
    boards = [Board("One", measure, rows) for measure in ("precision", "recall")]
    out = tmp_path / "report.html"
    write_board_report(boards, out, title="Both", extra=[Section("first", "First", "text")])
    page = out.read_text(encoding="utf-8")
    titles = re.findall(r"<h2 [^>]*>([^<]*)</h2>", page)
    assert titles[0] == "First"
    assert "precision: leaderboard" in titles
    assert "recall: leaderboard" in titles
    ids = re.findall(r'<section id="([^"]*)"', page)
    assert len(set(ids)) == len(ids)
    with pytest.raises(InputError, match="at least one board"):
        write_board_report([], out)
    with pytest.raises(InputError, match="two sections have the id 'about'"):
        write_board_report(boards[:1], out, extra=[Section("about", "About", "mine")])


def test_other_numbers_than_means_can_have_a_leaderboard() -> None:
    means = {one.agent: one.mean for one in board_numbers(full_board()).agents}
    section = leaderboard_section(
        means, id="elo", title="Elo", measure="rating", axis=(600, 1400), note="Centred on 1000."
    )
    assert section.id == "elo"
    assert "Centred on 1000." in _text(section)
    assert "rating, means with 95 % intervals" in str(section.body)


def test_plots_are_files_of_svg_with_all_that_they_show_in_words(tmp_path: Path) -> None:
    made = board_plots(full_board(), tmp_path / "plots", prefix="f1-")
    names = [path.name for path in made]
    assert names[:2] == ["f1-leaderboard.svg", "f1-heat-map.svg"]
    assert names[-2:] == ["f1-cost.svg", "f1-differences.svg"]
    assert sum(name.startswith("f1-trials-") for name in names) == len(AGENTS)
    said = made[-1].read_text(encoding="utf-8")
    assert "Agent A (large) − Agent B: " in said
    for path in made:
        root = ElementTree.parse(path).getroot()
        title = root.find(f"{_SVG}title")
        assert title is not None
        assert len(title.text or "") > 40
        assert is_plot(path)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for mark in root.iter():
            for name, end in (("x", width), ("y", height), ("cx", width), ("cy", height)):
                assert 0 <= float(mark.attrib.get(name, 0)) <= end, (path.name, mark.attrib)


def test_every_cell_of_the_heat_map_is_drawn_once() -> None:
    board = full_board()
    drawn = heat_map(board_numbers(board))
    cells = [mark for mark in drawn.marks if mark.role.startswith("heat-")]
    means = [cell for of in board.cells.values() for cell in of.values() if cell.mean is not None]
    assert len(cells) == len(means) == 46
    assert [mark.role for mark in drawn.marks].count("lack") == 1


def test_the_stronger_shade_is_the_better_value() -> None:
    values = {"a": {"t": [0.0], "u": [5.0], "v": [10.0]}}
    for higher in (True, False):
        board = board_of(values, higher_is_better=higher)
        axis = heat_axis(board)
        shades = [shade(board, axis, value) for value in (0.0, 5.0, 10.0)]
        assert shades == ([0, 5, 9] if higher else [9, 5, 0])
    flat = board_of({"a": {"t": [3.0]}})
    assert shade(flat, heat_axis(flat), 3.0) == 0


def test_the_front_holds_those_whom_nobody_beats_at_their_price() -> None:
    rows = tuple(
        BoardRow(agent, "t", "1", value, cost=cost)
        for agent, value, cost in (
            ("dear", 0.9, 3.0),
            ("cheap", 0.5, 1.0),
            ("worse", 0.4, 1.0),
            ("middle", 0.5, 2.0),
            ("free", 0.1, 0.0),
        )
    )
    for sign in (True, False):
        board = Board("b", "F1", rows, higher_is_better=sign)
        agents = board_numbers(board).agents
        front = {one.agent for one in agents if on_front(board, one, agents)}
        assert front == ({"dear", "cheap", "free"} if sign else {"free"})
    drawn = cost_plot(board_numbers(Board("b", "F1", rows)))
    assert drawn is not None
    assert [mark.role for mark in drawn.marks].count("dot") == 3
    assert [mark.role for mark in drawn.marks].count("hollow") == 2
    assert cost_plot(board_numbers(board_of({"a": {"t": [0.5]}}))) is None


def test_an_axis_has_the_known_ends_and_never_runs_backwards() -> None:
    rows = (BoardRow("a", "t", "1", 130.5),)
    none = (BoardRow("a", "t", "1", None, "timeout"),)
    for scale, of, values, ends in (
        ((0, 100), none, [50.0], (0, 100)),
        ((100, None), none, [], (100, 101)),
        ((100, None), rows, [130.5, 141.0], (100, 141)),
        ((None, 200), rows, [130.5], (130, 200)),
        ((None, None), rows, [None, 130.5], (130, 131)),
    ):
        axis = board_axis(Board("b", "F1", of, scale), values)
        assert (axis.low, axis.high) == ends


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    with chromium.Page(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "report.html"
    write_board_report([full_board()], out)
    return out


@needs_browser
def test_the_page_opens_without_errors_or_requests_and_sorts(
    page: chromium.Page, report: Path
) -> None:
    page.console.clear()
    page.requests.clear()
    page.open(report)
    first = "document.querySelector('#tasks tbody tr').cells[0].textContent"
    assert page.run(first) == "task-0"
    # The third column is the best agent's; the second click on a head turns the order around.
    head = "document.querySelectorAll('#tasks .sorter')[2].click()"
    page.run(head)
    page.run(head)
    values = page.run(
        "[...document.querySelectorAll('#tasks tbody tr')].map(r => r.cells[2].dataset.value)"
    )
    assert [float(value) for value in values] == sorted(float(value) for value in values)
    assert page.console == []
    assert set(page.requests) == {report.resolve().as_uri()}


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_numbers_on_every_shade_can_be_read(
    page: chromium.Page, report: Path, *, dark: bool
) -> None:
    page.open(report, dark=dark)
    contrasts = page.run(_CONTRASTS)
    assert len(contrasts) == 46
    # WCAG 2.2, success criterion 1.4.3 (AA).
    assert min(contrasts) >= 4.5
    assert (
        page.run(
            "new Set([...document.querySelectorAll('.ramp i')].map(e => "
            "getComputedStyle(e).backgroundColor)).size"
        )
        == 10
    )


_CONTRASTS = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const light = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  return [...document.querySelectorAll('td[class*=heat-]')].map((cell) => {
    const style = getComputedStyle(cell);
    const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });
})()"""


@needs_browser
def test_a_phone_scrolls_tables_and_not_the_page(page: chromium.Page, report: Path) -> None:
    page.open(report, width=390)
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth")

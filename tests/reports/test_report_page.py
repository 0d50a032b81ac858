"""The page: one inert file that says what the run says, whatever models wrote."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from basanite.errors import InputError
from basanite.reports import RunView, Section, write_report
from basanite.reports._items import ItemBook
from basanite.reports._run import read_runs
from basanite.reports._strip import Axis, axis_for, strip
from basanite.reports._text import shortened, visible
from basanite.schema import Answer, InvalidRow, Judgment, RawReply, Score, UnscoredReason
from support.fake_runs import (
    FakeRun,
    make_answer,
    make_judgment,
    make_manifest,
    make_run,
    make_unscored,
)
from support.report_samples import agent_answers, choice_run, facts_run

HOSTILE = (
    "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> {{ 7*7 }} "
    "\x00 \x1b[31m \u202edesrever \u2028 \ud800 \ufeff & \" '"
)


class _Elements(HTMLParser):
    """Every start tag with its attributes, and the text of data blocks and of the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: dict[str, str] = {}
        self.text = ""
        self._block: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        self._block = (found.get("id") or tag) if tag in {"script", "style"} else None

    def handle_endtag(self, tag: str) -> None:
        self._block = None
        self.text += " "

    def handle_data(self, data: str) -> None:
        if self._block is None:
            self.text += data
        else:
            self.blocks[self._block] = self.blocks.get(self._block, "") + data


def _page(out: Path, *views: RunView, extra: tuple[Section, ...] = ()) -> _Elements:
    write_report(views, out / "report.html", extra=extra)
    parser = _Elements()
    parser.feed((out / "report.html").read_text(encoding="utf-8"))
    parser.close()
    parser.text = re.sub(r"\s+", " ", parser.text)
    return parser


def _block(page: _Elements, name: str) -> Any:
    return json.loads(page.blocks[name])


def _hostile_run() -> FakeRun:
    row = make_answer(
        0, id="id </script>\u202e", question=HOSTILE, answer=HOSTILE, truth=HOSTILE, task=HOSTILE
    )
    row = row.model_copy(update={"agent": HOSTILE, "human": {HOSTILE: 1.0}})
    judgment = make_judgment(
        row, message=HOSTILE, notes=(HOSTILE,), replies=(RawReply(role=HOSTILE, text=HOSTILE),)
    )
    manifest = make_manifest(HOSTILE, rows=1)
    manifest["judge"] = {"judge": HOSTILE, "model": {"name": HOSTILE, "kind": HOSTILE}}
    return FakeRun(manifest, [row], [judgment])


def test_hostile_text_makes_no_element_and_no_hidden_character(tmp_path: Path) -> None:
    calm, hostile = _page(tmp_path, make_run(1)), _page(tmp_path, _hostile_run())
    kinds = {tag for tag, _ in calm.tags}
    assert {tag for tag, _ in hostile.tags} <= kinds
    assert not [tag for tag, found in hostile.tags for name in found if name.startswith("on")]
    scripts = [found for tag, found in hostile.tags if tag == "script"]
    data = [found for found in scripts if found.get("type") == "application/json"]
    assert len(scripts) == len(data) + 1
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]", raw)
    assert "⟨U+202E⟩desrever" in hostile.text
    assert "49" not in hostile.text.replace("{{ 7*7 }}", "")


def test_hostile_text_comes_back_whole_from_its_data_block(tmp_path: Path) -> None:
    page = _page(tmp_path, _hostile_run())
    assert _block(page, "s-0")["answer"] == HOSTILE
    assert _block(page, "j-0-0")["replies"][0]["text"] == HOSTILE
    assert _block(page, "item-index")["items"][0]["agent"] == HOSTILE


def test_the_page_asks_nothing_of_anyone(tmp_path: Path) -> None:
    page = _page(tmp_path, make_run(6))
    for tag, found in page.tags:
        assert tag not in {"iframe", "object", "embed", "base", "form", "img", "video"}
        assert "style" not in found, "style attributes would need an open policy"
        for name in ("src", "href", "action", "srcset"):
            assert (found.get(name) or "#").startswith(("#", "data:"))
    assert "url(" not in page.blocks["style"]
    assert "@import" not in page.blocks["style"]
    for name in ("innerHTML", "eval(", "fetch(", "XMLHttpRequest", "import("):
        assert name not in page.blocks["script"]


def test_the_policy_allows_the_page_s_own_script_and_style_only(tmp_path: Path) -> None:
    page = _page(tmp_path, make_run(3))
    metas = [found for tag, found in page.tags if tag == "meta"]
    policy = next(m["content"] for m in metas if m.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    for name in ("script", "style"):
        digest = hashlib.sha256(page.blocks[name].encode("utf-8")).digest()
        assert f"{name}-src 'sha256-{base64.b64encode(digest).decode()}';" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_runs_stand_side_by_side_with_counts_reasons_and_caveats(tmp_path: Path) -> None:
    run = make_run(30)
    rows = [row for row in run.rows if isinstance(row, Answer)]
    run.judged[4] = make_unscored(rows[4], UnscoredReason.REPLY_CUT)
    run.rows.append(InvalidRow(id="row-31", row=31, message="truth is missing"))
    run.manifest["input"] = {"path": "a.jsonl", "sha256": "b" * 64, "rows": 31}
    text = _page(tmp_path, run, make_run(30, judge="other")).text
    assert "29 / 31" in text
    assert "invalid row 1, reply cut 1" in text
    assert "different input files" in text
    assert text.count("judge not validated") >= 4
    assert "can't see a flipped direction or a negation" in text
    assert "author labels · not a human ceiling" in text
    assert "needs JavaScript" in text
    for title in ("Overview", "Scores", "Lexical baseline", "Agents", "Tasks", "Costs", "Manifest"):
        assert f" {title} " in text


def test_equal_items_of_two_runs_are_one_item(tmp_path: Path) -> None:
    first, second = make_run(6), make_run(6, judge="other")
    changed = make_answer(5, answer="Another answer under the same id.")
    second.rows[5], second.judged[5] = changed, make_judgment(changed, judge="other")
    index = _block(_page(tmp_path, first, second), "item-index")
    assert [run["letter"] for run in index["runs"]] == ["A", "B"]
    assert len(index["items"]) == 7
    assert None not in index["items"][0]["values"]
    assert index["items"][6]["values"][0] is None
    assert index["items"][6]["reasons"] == ["not_judged", None]


def test_an_invalid_row_and_a_row_without_judgment_are_listed(tmp_path: Path) -> None:
    invalid = InvalidRow(id="row-2", row=2, message="truth is missing; give each row a truth")
    run = FakeRun(make_manifest(rows=2), [make_answer(0), invalid], [])
    page = _page(tmp_path, run)
    reasons = [item["reasons"] for item in _block(page, "item-index")["items"]]
    assert reasons == [["not_judged"], ["invalid_row"]]
    assert _block(page, "s-1")["message"] == invalid.message


def test_a_run_with_nothing_in_it_still_has_a_page(tmp_path: Path) -> None:
    text = _page(tmp_path, FakeRun(make_manifest(rows=0), [], [])).text
    assert "0 / 0" in text
    assert "n/a" in text


def test_tokens_that_no_server_reported_are_not_zero(tmp_path: Path) -> None:
    run = make_run(3)
    run.judged = [
        judgment.model_copy(
            update={"usage": judgment.usage.model_copy(update={"calls_without_usage": 3})}
        )
        for judgment in run.judged
    ]
    text = _page(tmp_path, run).text
    assert "Prompt tokens not reported" in text
    assert "no tokens for 9 of 9 calls" in text


def test_a_huge_answer_is_cut_and_says_so(tmp_path: Path) -> None:
    row = make_answer(0, answer="word " * 2_000_000)
    page = _page(tmp_path, FakeRun(make_manifest(rows=1), [row], [make_judgment(row)]))
    assert (tmp_path / "report.html").stat().st_size < 200_000
    assert "9,980,000 more characters" in _block(page, "s-0")["answer"]


def test_a_page_holds_a_bounded_number_of_items() -> None:
    book = ItemBook(read_runs([make_run(12)]), limit=5)
    ids = re.findall(r'id="([^"]+)"', "".join(book.blocks()))
    assert sorted(ids) == sorted(
        ["item-index", *(f"s-{n}" for n in range(5)), *(f"j-0-{n}" for n in range(5))]
    )


def test_what_no_page_can_list_is_not_read() -> None:
    class Counting(FakeRun):
        read = 0

        def judgments(self) -> Iterator[Judgment]:
            for judgment in self.judged:
                self.read += 1
                yield judgment

    run = make_run(500)
    counting = Counting(run.manifest, run.rows, run.judged)
    runs = read_runs([counting])
    before = counting.read
    blocks = list(ItemBook(runs, limit=5).blocks())
    assert len([block for block in blocks if 'id="j-0-' in str(block)]) == 5
    assert counting.read - before == 6, "one beyond those that are listed"
    reversed_run = Counting(run.manifest, run.rows, run.judged[::-1])
    blocks = list(ItemBook(read_runs([reversed_run]), limit=5).blocks())
    assert len([block for block in blocks if 'id="j-0-' in str(block)]) == 5, "none is missed"


def _index(blocks: list[str]) -> Any:
    return json.loads(blocks[-1].partition(">")[2].rpartition("</script>")[0])


def test_texts_beyond_a_page_s_room_are_left_out_and_said_to_be() -> None:
    run = make_run(60)
    whole = [str(block) for block in ItemBook(read_runs([run])).blocks()]
    assert (_index(whole)["more"], _index(whole)["brief"]) == (False, 0)
    subjects = sum(len(block) for block in whole if 'id="s-' in block)
    blocks = [str(block) for block in ItemBook(read_runs([run]), chars=subjects).blocks()]
    index = _index(blocks)
    assert index["more"]
    assert 25 < len(index["items"]) < 35
    judgments = [block for block in blocks if 'id="j-0-' in block]
    assert len(judgments) == len(index["items"])
    brief = [block for block in judgments if '"brief":true' in block]
    assert len(brief) == index["brief"] > 0
    assert all('"replies":[]' in block and '"scores":{"f1"' in block for block in brief)
    assert sum(map(len, blocks[:-1])) < 1.5 * subjects


def test_what_a_reader_may_look_for_is_marked() -> None:
    def marks(run: FakeRun) -> list[list[str]]:
        index = _index([str(block) for block in ItemBook(read_runs([run])).blocks()])
        return [item["marks"][0] for item in index["items"]]

    assert marks(make_run(1)) == [["contradicted", "quote", "no_verdict"]]
    assert marks(choice_run(4)) == [["wrong_choice"], ["wrong_choice"], [], ["wrong_choice"]]
    found = marks(facts_run(agent_answers(6)))
    assert all("missing" in of_item and "no_verdict" in of_item for of_item in found)
    assert {"partial", "incorrect"} <= {mark for of_item in found for mark in of_item}


def test_callers_add_sections_before_the_manifest(tmp_path: Path) -> None:
    extra = (
        Section("plain", "Plain <b>", "<i>text</i> & more"),
        Section("rich", "Rich", Markup("<p>An <em>own</em> table</p>")),
    )
    page = _page(tmp_path, make_run(3), extra=extra)
    ids = [found["id"] for tag, found in page.tags if tag == "section"]
    assert ids[-3:] == ["plain", "rich", "manifest"]
    assert "<i>text</i> & more" in page.text
    assert ("em", {}) in page.tags
    with pytest.raises(InputError, match="'overview'"):
        write_report([make_run(3)], tmp_path / "x.html", extra=[Section("overview", "x", "x")])


def test_without_a_run_there_is_no_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one run"):
        write_report([], tmp_path / "report.html")


def test_a_page_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    out.write_text("old", encoding="utf-8")

    class Broken(FakeRun):
        reads = 0

        def judgments(self):  # type: ignore[no-untyped-def]
            self.reads += 1
            if self.reads > 1:  # while the page's data blocks are written
                raise OSError("the disk went away")
            return super().judgments()

    run = make_run(3)
    with pytest.raises(OSError, match="went away"):
        write_report([Broken(run.manifest, run.rows, run.judged)], out)
    assert out.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_text_helpers() -> None:
    assert visible("a\tb\nc\x00\u202e") == "a\tb\nc⟨U+0000⟩⟨U+202E⟩"
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3).startswith("abc\n… 1 more")


def test_strips_stay_on_their_axis() -> None:
    assert axis_for([0.2, None, 1.0]) == Axis(0, 1)
    assert axis_for([1.5, 4.2]) == Axis(1, 5)
    assert axis_for([]) == Axis(0, 1)
    drawn = strip(Axis(), 1.0, (0.7, 1.4))
    places = [float(x) for x in re.findall(r"[MH ](\d+(?:\.\d+)?) ?", drawn)]
    assert max(places) <= 240
    assert 'class="mark"' not in strip(Axis(), None)


@pytest.mark.parametrize(
    ("reason", "left_out"),
    [(UnscoredReason.NO_CONTEXTS, True), (UnscoredReason.TIMEOUT, False)],
)
def test_scores_that_no_item_could_have_share_one_line(
    tmp_path: Path, reason: UnscoredReason, left_out: bool
) -> None:
    row = make_answer(0)
    judgment = make_judgment(row)
    scores = {**judgment.scores, "claim_recall": Score(unscored_reason=reason)}
    judged = judgment.model_copy(update={"scores": scores})
    page = _page(tmp_path, FakeRun(make_manifest(), [row], [judged]))
    assert ("No item could have these scores" in page.text) is left_out
    assert "claim_recall" in page.text

"""Small drawings as SVG: in the page they take its colours, in a file those of print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from ._text import shortened, visible

WIDTH = 360.0
"""Width of one plot in pixels: a phone's screen, or one column of a paper."""

FONT = "Helvetica, Arial, 'Liberation Sans', 'Nimbus Sans', sans-serif"

MADE_BY = "made by basanite"
"""Stands in each plot that is written as a file, so that it may be written anew."""

HALO = frozenset({"label", "soft", "count"})
"""Roles of texts that may stand on lines: they are set off by the colour of the ground."""

_HALO_LOOK = 'fill="none" stroke="#ffffff" stroke-width="3" stroke-linejoin="round"'

_INK, _SOFT, _BLUE, _WARN = "#111111", "#4d4d4d", "#1f5c6b", "#8c2d19"

PRINT: dict[str, dict[str, str]] = {
    "axis": {"stroke": _INK, "stroke-width": "1", "fill": "none"},
    "grid": {"stroke": "#d9d9d9", "stroke-width": "1", "fill": "none"},
    "zero": {"stroke": _SOFT, "stroke-width": "1", "stroke-dasharray": "3 2", "fill": "none"},
    "bar": {"fill": _BLUE},
    "lack": {"fill": "#ffffff", "stroke": _WARN, "stroke-width": "1.2", "stroke-dasharray": "3 2"},
    "mean": {"stroke": _INK, "stroke-width": "1.5", "stroke-dasharray": "5 3", "fill": "none"},
    "interval": {"stroke": _BLUE, "stroke-width": "2", "fill": "none"},
    "beyond": {"fill": _BLUE},
    "dot": {"fill": _BLUE},
    "hollow": {"fill": "#ffffff", "stroke": _SOFT, "stroke-width": "1.5"},
    "point": {"fill": _BLUE, "fill-opacity": "0.6"},
    "span": {"stroke": _BLUE, "stroke-width": "1.5", "stroke-opacity": "0.5", "fill": "none"},
    # Steps of a heat map: white mixed with blue, light enough for black numbers.
    **{
        f"heat-{step}": {"fill": _BLUE, "fill-opacity": f"{0.05 * step + 0.02:.2f}"}
        for step in range(10)
    },
    "title": {"fill": _INK, "font-size": "12", "font-weight": "bold"},
    "label": {"fill": _INK, "font-size": "11"},
    "soft": {"fill": _SOFT, "font-size": "11"},
    "small": {"fill": _SOFT, "font-size": "10"},
    "count": {"fill": _SOFT, "font-size": "10"},
    "cell": {"fill": _INK, "font-size": "10"},
}
"""What each role looks like on white paper; the page's style sheet has the same roles."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One shape or one line of text of a drawing."""

    tag: str
    role: str
    """A key of `PRINT`."""
    places: tuple[tuple[str, float | str], ...]
    """Attributes that place it, without any colour."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """One drawing with what it says in words."""

    name: str
    """Letters, digits and hyphens: the file's name without its suffix."""
    alt: str
    """What the drawing shows, for those who don't see it."""
    height: float
    marks: tuple[Mark, ...]
    width: float = WIDTH

    def inline(self) -> Markup:
        """Give the SVG element for the page; its style sheet colours it."""
        body = "".join(_element(mark, f'class="{mark.role}"') for mark in self.marks)
        return Markup(
            f'<svg class="drawing" viewBox="0 0 {_n(self.width)} {_n(self.height)}" role="img" '
            f'aria-label="{_escaped(self.alt)}" focusable="false">{body}</svg>'
        )

    def file_text(self) -> str:
        """Give a whole SVG file: black on white, with colours and fonts in each element."""
        body = "\n".join(part for mark in self.marks for part in _print_elements(mark))
        size = f'width="{_n(self.width)}" height="{_n(self.height)}"'
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<!-- {MADE_BY} -->\n<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f'viewBox="0 0 {_n(self.width)} {_n(self.height)}" role="img" '
            f'font-family="{FONT}">\n<title>{_escaped(self.alt)}</title>\n'
            f'<rect {size} fill="#ffffff"/>\n{body}\n</svg>\n'
        )


def stacked(name: str, figures: Sequence[Figure], *, gap: float = 12.0) -> Figure:
    """Put figures below each other, as one."""
    marks: list[Mark] = []
    top = 0.0
    for figure in figures:
        marks += [_moved(mark, top) for mark in figure.marks]
        top += figure.height + gap
    width = max((figure.width for figure in figures), default=WIDTH)
    alt = " ".join(figure.alt for figure in figures)
    return Figure(name, alt, max(top - gap, 1.0), tuple(marks), width)


def line(role: str, *points: tuple[float, float]) -> Mark:
    """Join points by straight lines."""
    path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
    return Mark("path", role, (("d", path),))


def rect(role: str, x: float, y: float, width: float, height: float) -> Mark:
    """Draw a rectangle from its left upper corner."""
    return Mark("rect", role, (("x", x), ("y", y), ("width", width), ("height", height)))


def dot(role: str, x: float, y: float, radius: float = 3.5) -> Mark:
    """Draw a filled circle."""
    return Mark("circle", role, (("cx", x), ("cy", y), ("r", radius)))


def shape(role: str, *points: tuple[float, float]) -> Mark:
    """Draw a closed shape from its corners."""
    corners = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
    return Mark("polygon", role, (("points", corners),))


def words(role: str, x: float, y: float, text: str, anchor: str = "start") -> Mark:
    """Write one line of text, its baseline at `y`."""
    return Mark("text", role, (("x", x), ("y", y), ("text-anchor", anchor)), text)


def upright(role: str, x: float, y: float, text: str) -> Mark:
    """Write a line of text from bottom to top, its middle at `(x, y)`."""
    turn = f"translate({_n(x)} {_n(y)}) rotate(-90)"
    return Mark("text", role, (("transform", turn), ("text-anchor", "middle")), text)


def fitted(text: str, width: float, size: float = 11.0) -> str:
    """Cut a text to a width in pixels; letters of the usual fonts are half as wide as high."""
    most = max(1, int(width / (0.52 * size)))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def fitted_ends(text: str, width: float, size: float = 11.0) -> str:
    """Cut a text in its middle: names that are made by a rule often differ at their end."""
    most = max(3, int(width / (0.52 * size)))
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1].rstrip()}…{text[-end:].lstrip()}"


def numbers(values: Iterable[float]) -> list[str]:
    """Write the numbers of an axis, all with as many digits as the finest needs."""
    found = [f"{value:.10g}" for value in values]
    digits = max((len(text.partition(".")[2]) for text in found), default=0)
    return [f"{float(text):.{min(digits, 3)}f}".replace("-", "−") for text in found]


def _element(mark: Mark, look: str) -> str:
    places = " ".join(
        f'{name}="{_n(value) if isinstance(value, float | int) else value}"'
        for name, value in mark.places
    )
    if mark.tag == "text":
        return f"<text {look} {places}>{_escaped(mark.text)}</text>"
    return f"<{mark.tag} {look} {places}/>"


def _print_elements(mark: Mark) -> Iterator[str]:
    look = PRINT[mark.role]
    if mark.role in HALO:
        # A second text below: not every program that reads SVG knows `paint-order`.
        size = f'font-size="{look["font-size"]}"'
        yield _element(mark, f'{_HALO_LOOK} {size} aria-hidden="true"')
    yield _element(mark, " ".join(f'{name}="{value}"' for name, value in look.items()))


def _moved(mark: Mark, down: float) -> Mark:
    # A group would do, but single elements are easier to take apart in a drawing program.
    if not down:
        return mark
    places = dict(mark.places)
    move = f"translate(0 {_n(down)})"
    before = places.pop("transform", None)
    places["transform"] = move if before is None else f"{move} {before}"
    return Mark(mark.tag, mark.role, tuple(places.items()), mark.text)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _escaped(text: str) -> str:
    return str(escape(visible(shortened(text, 2000))))

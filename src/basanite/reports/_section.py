"""The part that a report page is made of."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the page, in the order it is given and in the page's contents."""

    id: str
    """Unique on the page; letters, digits and hyphens."""
    title: str
    body: Markup | str
    """HTML as `Markup`; a plain text is escaped and shown as a paragraph."""

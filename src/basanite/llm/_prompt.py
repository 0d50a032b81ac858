"""Prompts as versioned files, and the fence behind which untrusted text goes into them."""

from __future__ import annotations

import hashlib
import importlib.resources
import re
from dataclasses import dataclass

_SLOT = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_VERSION = re.compile(r"\Aversion: *(\S+) *\n")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text of a prompt with named slots (`{{claims}}`), its version and its hash."""

    name: str
    version: str
    text: str
    sha256: str
    """Of the whole file, version line included; part of a judge's fingerprint."""

    @classmethod
    def load(cls, package: str, name: str) -> Prompt:
        """Load `NAME.md` from a package's files.

        The first line of the file is `version: N`; the text follows.

        Args:
            package: dotted name of the package that holds the file, such as
                `basanite.judges.prompts` or `basanite.judges`.
            name: file name without `.md`; may hold a folder (`prompts/check`).

        Raises:
            FileNotFoundError: there is no such file in the package.
            ValueError: the file does not start with a version line.
        """
        source = importlib.resources.files(package).joinpath(f"{name}.md")
        return cls.parse(name, source.read_text(encoding="utf-8"))

    @classmethod
    def parse(cls, name: str, source: str) -> Prompt:
        """Make a prompt from a file's content.

        Raises:
            ValueError: the content does not start with a version line.
        """
        source = source.replace("\r\n", "\n")  # a checkout on Windows must not change the hash
        head = _VERSION.match(source)
        if head is None:
            raise ValueError(f"prompt {name!r} does not start with a line `version: N`")
        sha256 = hashlib.sha256(source.encode("utf-8")).hexdigest()
        return cls(name, head.group(1), source[head.end() :].strip(), sha256)

    @property
    def slots(self) -> frozenset[str]:
        """Names of the slots in the text."""
        return frozenset(_SLOT.findall(self.text))

    def fill(self, **parts: str) -> str:
        """Put texts into the slots, all in one pass.

        A text that is put in is never looked at again, so slots, braces or `%s` in it stay what
        they are. Untrusted text should be fenced first (see `fence`).

        Raises:
            ValueError: a slot got no text, or a text has no slot.
        """
        slots = self.slots
        if slots != parts.keys():
            missing, extra = sorted(slots - parts.keys()), sorted(parts.keys() - slots)
            raise ValueError(f"prompt {self.name!r}: missing {missing}, without a slot {extra}")
        return _SLOT.sub(lambda found: parts[found.group(1)], self.text)


def fence(text: str, *, salt: str = "") -> str:
    """Put untrusted text between two marker lines that the text can't contain.

    The result is three parts: `<<<MARK`, the text, `MARK>>>`, each on lines of its own. The mark
    looks random, yet is derived from the text and the salt: the same text gives the same prompt
    (so that reply cache and prefix cache work), and a text that holds a mark gets another one.

    Args:
        text: what comes from outside: an answer, a paper, a model's reply.
        salt: the prompt's hash, so that a mark seen in one prompt says nothing of another.
    """
    mark = fence_mark(text, salt=salt)
    return f"<<<{mark}\n{text}\n{mark}>>>"


def fence_mark(text: str, *, salt: str = "") -> str:
    """The 16 hex digits that `fence` uses for a text."""
    data = text.encode("utf-8", "surrogatepass")
    for attempt in range(1_000_000):
        seed = f"{salt}\x1f{attempt}\x1f".encode()
        mark = hashlib.sha256(seed + data).hexdigest()[:16]
        if mark not in text:
            return mark
    raise ValueError("a text can't hold all marks")  # unreachable for any text that fits memory

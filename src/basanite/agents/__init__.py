"""Agents that are evaluated: readers of what they leave behind.

`agents.logs` reads the conclusion of a run out of its log.
"""

__all__: list[str] = []

"""Judges, critics and graphs as services. This room has a door and no furniture yet.

Until it is furnished, judge against any OpenAI-compatible server with `--endpoint URL`.
"""

__all__: list[str] = []

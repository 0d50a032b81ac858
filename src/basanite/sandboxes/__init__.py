"""Untrusted code and files, contained. This room has a door and no furniture yet.

Agents' code is not run by this version; what needs a sandbox is not offered rather than run
without one.
"""

__all__: list[str] = []

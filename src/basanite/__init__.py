"""Evaluate AI research agents on what they discover, with judges that you host."""

__version__ = "0.1.0"
__all__ = ["__version__"]

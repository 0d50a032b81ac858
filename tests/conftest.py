"""What holds for every test: no connection leaves the machine, no user's cache is touched."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.guard import loopback
from support.skips import forbidden, summary

_GUARD = Path(__file__).parent / "support" / "guard"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def _user_cache() -> Path:
    named = os.environ.get("XDG_CACHE_HOME")
    return Path(named) if named else Path.home() / ".cache"


def _set_up_environment(scratch: Path) -> None:
    user_cache = _user_cache()
    # The model file is large and read only, so tests share the user's; caches they don't.
    os.environ.setdefault("BASANITE_MODELS", str(user_cache / "basanite" / "models"))
    os.environ.setdefault("MPLCONFIGDIR", str(scratch / "matplotlib"))
    os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
    os.environ["BASANITE_CACHE"] = str(scratch / "cache" / "basanite" / "cache.sqlite")
    for name in list(os.environ):
        # What a developer's shell holds must not decide a test.
        if name.lower() in _PROXIES or name.startswith(("OPENAI_", "LANGCHAIN_", "LANGSMITH_")):
            del os.environ[name]
    os.environ.pop("BASANITE_API_KEY", None)
    os.environ[loopback.LOG_VARIABLE] = str(scratch / "refused.log")
    inherited = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_GUARD), inherited]))


def pytest_configure(config: pytest.Config) -> None:
    scratch = tempfile.TemporaryDirectory(prefix="basanite-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(scratch.cleanup)
    _set_up_environment(Path(scratch.name))
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # A shell lets its background jobs ignore Ctrl-C, and children inherit that: tests that
        # interrupt a child would wait for ever.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    loopback.install()


@pytest.fixture(scope="session")
def refusals() -> Path:
    """The file to which this process and its children write each refused connection."""
    return Path(os.environ[loopback.LOG_VARIABLE])


@pytest.fixture(autouse=True)
def _stays_on_this_machine(refusals: Path) -> Iterator[None]:
    yield
    if refusals.exists():
        text = refusals.read_text(encoding="utf-8")
        refusals.unlink()
        pytest.fail(f"the test tried to leave this machine:\n{text}", pytrace=False)


def _skip_reasons(reporter: pytest.TerminalReporter) -> list[str]:
    reasons = []
    for report in reporter.stats.get("skipped", []):
        where = report.longrepr
        reasons.append(where[2] if isinstance(where, tuple) else str(where))
    return reasons


def _reporter(config: pytest.Config) -> pytest.TerminalReporter | None:
    plugin = config.pluginmanager.get_plugin("terminalreporter")
    return plugin if isinstance(plugin, pytest.TerminalReporter) else None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = _reporter(session.config)
    if reporter is None or hasattr(session.config, "workerinput"):
        return
    if exitstatus == pytest.ExitCode.OK and forbidden(_skip_reasons(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = _skip_reasons(terminalreporter)
    if reasons:
        terminalreporter.section("what was skipped, and how to get it")
        for line in summary(reasons):
            terminalreporter.line(line)
    for reason in forbidden(reasons):
        terminalreporter.line(f"FAILED: this session allows no such skip: {reason}", red=True)

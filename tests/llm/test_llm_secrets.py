"""Keys and passwords, and what of the environment must not leave."""

from __future__ import annotations

import logging

import pytest

from basanite.errors import (
    EndpointError,
)
from basanite.llm import EndpointConfig, open_endpoint
from support.asking import endpoint, request
from support.mock_endpoint import MockConfig, MockEndpoint


async def test_no_secret_reaches_logs_errors_or_identity(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("BASANITE_API_KEY", "sk-verysecret")
    with MockEndpoint(MockConfig(api_key="sk-verysecret")) as mock:
        async with endpoint(mock.url) as model:
            await model.complete(request())
            shown = [repr(model.identity), model.address, repr(model.profile)]
        assert mock.headers[-1]["authorization"] == "Bearer sk-verysecret"
    with MockEndpoint(MockConfig(api_key="another")) as mock:
        with pytest.raises(EndpointError, match="BASANITE_API_KEY") as caught:
            await open_endpoint(EndpointConfig(mock.url))
        shown += [str(caught.value), repr(caught.value)]
        with_password = mock.url.replace("://", "://me:hunter2@")
        with pytest.raises(EndpointError) as caught:
            await open_endpoint(EndpointConfig(with_password))
        shown += [str(caught.value), caplog.text]
    text = "\n".join(shown)
    for secret in ("sk-verysecret", "hunter2", "bWU6aHVudGVyMg=="):
        assert secret not in text


async def test_a_key_of_a_commercial_service_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-commercial")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-commercial")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-commercial")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: commercial\nX-More: commercial")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid/v1")
    with MockEndpoint() as mock:
        async with endpoint(mock.url) as model:
            await model.complete(request())
        assert mock.headers[-1]["authorization"] == "Bearer none"
        assert "commercial" not in str(mock.headers)


async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    with MockEndpoint() as mock:
        async with endpoint(mock.url) as model:
            assert (await model.complete(request())).text

"""Finding out what an endpoint can do, once."""

from __future__ import annotations

import pytest

from basanite.errors import EndpointError, InputError
from basanite.llm import EndpointConfig, open_endpoint
from basanite.llm._types import Capabilities
from basanite.schema import ModelIdentity
from support.asking import endpoint, request
from support.memory_cache import MemoryCache
from support.mock_endpoint import MockConfig, MockEndpoint, Reply


async def test_vllm_is_known_by_its_list_version_and_tokenizer() -> None:
    with MockEndpoint(MockConfig(context_tokens=2048)) as mock:
        async with endpoint(mock.url) as model:
            assert model.capabilities == Capabilities(True, True, 2048, True)
            assert model.identity == ModelIdentity(
                name="mock-model", kind="openai", engine="vllm 0.0.mock", root="mock/mock-model"
            )
        assert mock.calls == 1


async def test_llama_cpp_is_known_by_its_properties() -> None:
    with MockEndpoint(MockConfig(server="llamacpp", context_tokens=4096)) as mock:
        async with endpoint(mock.url) as model:
            assert model.capabilities == Capabilities(True, True, 4096, True)
            assert model.identity.engine == "llama.cpp b0-mock"
            assert len(model.identity.chat_template_sha256) == 64
            assert model.profile.tokenize == "content"


async def test_what_a_plain_server_does_not_tell_is_unknown() -> None:
    with MockEndpoint(MockConfig(server="plain")) as mock:
        async with endpoint(mock.url) as model:
            assert model.capabilities == Capabilities(True, True, None, False)
            assert model.identity.root == "unknown"
            assert model.identity.weights_sha256 == "unknown"


@pytest.mark.parametrize(
    ("json_schema", "logprobs"), [(True, False), (False, True), (False, False)]
)
async def test_what_is_refused_is_found_with_at_most_two_chats(
    json_schema: bool, logprobs: bool
) -> None:
    with MockEndpoint(MockConfig(json_schema=json_schema, logprobs=logprobs)) as mock:
        async with endpoint(mock.url) as model:
            assert model.capabilities.json_schema is json_schema
            assert model.capabilities.logprobs is logprobs
        assert mock.calls == 2


async def test_a_schema_that_is_silently_ignored_is_found_out() -> None:
    with MockEndpoint(responder=lambda body: "Hello!") as mock:
        async with endpoint(mock.url) as model:
            assert model.capabilities.json_schema is False


async def test_a_cut_probe_shows_nothing_about_schemas() -> None:
    with MockEndpoint(responder=lambda body: Reply("I thi", "length")) as mock:
        async with endpoint(mock.url) as model:
            assert model.capabilities.json_schema is None
            await model.complete(request())
            assert "response_format" in mock.requests[-1]


async def test_a_second_start_makes_no_chat_call() -> None:
    cache = MemoryCache()
    with MockEndpoint() as mock:
        async with endpoint(mock.url, profiles=cache) as model:
            first = model.profile
        assert mock.calls == 1
        async with endpoint(mock.url, profiles=cache) as model:
            assert model.profile == first
        assert mock.calls == 1


async def test_what_was_learned_in_use_is_remembered() -> None:
    cache = MemoryCache()

    def respond(body: dict[str, object]) -> Reply | str:
        if "pattern" in str(body.get("response_format")):
            return Reply(status=400, body={"error": {"message": "bad json schema"}})
        return '{"touchstone": "basanite"}'

    odd = {"type": "object", "properties": {"x": {"type": "string", "pattern": "a"}}}
    with MockEndpoint(responder=respond) as mock:
        async with endpoint(mock.url, profiles=cache) as model:
            await model.complete(request(schema=odd))
            learned = model.profile
        before = mock.calls
        async with endpoint(mock.url, profiles=cache) as model:
            assert model.profile == learned
            await model.complete(request(schema=odd))
        assert mock.calls == before + 1


async def test_another_server_version_is_probed_anew() -> None:
    cache = MemoryCache()
    with MockEndpoint() as mock:
        async with endpoint(mock.url, profiles=cache):
            pass
        port = mock.port
    with MockEndpoint(MockConfig(port=port, context_tokens=77)) as mock:
        async with endpoint(mock.url, profiles=cache) as model:
            assert model.capabilities.context_tokens == 77
        assert mock.calls == 1


@pytest.mark.parametrize("fault", ["429-bare", "500", "disconnect", "hang"])
async def test_a_passing_fault_leaves_it_open_and_is_not_remembered(fault: str) -> None:
    cache = MemoryCache()
    with MockEndpoint(responder=lambda body: Reply("{}", fault=fault)) as mock:
        async with endpoint(mock.url, profiles=cache, attempt_seconds=0.1) as model:
            assert model.capabilities.json_schema is None
            assert model.capabilities.logprobs is None
            assert model.capabilities.context_tokens == 32768
    assert cache.profiles == {}


async def test_what_the_caller_knows_wins() -> None:
    known = Capabilities(json_schema=False, context_tokens=10)
    identity = ModelIdentity(name="mock-model", kind="embedded", weights_sha256="ab" * 32)
    with MockEndpoint() as mock:
        config = EndpointConfig(mock.url, known=known, identity=identity)
        model = await open_endpoint(config)
        assert model.capabilities == Capabilities(False, True, 10, True)
        assert model.identity == identity
        await model.aclose()


async def test_a_model_is_named_where_there_are_several() -> None:
    with MockEndpoint(MockConfig(models=("small", "large"))) as mock:
        with pytest.raises(InputError, match="small, large"):
            await open_endpoint(EndpointConfig(mock.url))
        with pytest.raises(InputError, match=r"no model 'huge'.*small, large"):
            await open_endpoint(EndpointConfig(mock.url, model="huge"))
        async with endpoint(mock.url, model="large") as model:
            assert model.identity.name == "large"
            await model.complete(request())
            assert mock.requests[-1]["model"] == "large"


async def test_a_text_is_counted_where_it_may_not_fit_and_estimated_elsewhere() -> None:
    with MockEndpoint(MockConfig(context_tokens=1000)) as mock:
        async with endpoint(mock.url) as model:
            probed = mock.stats.tokenize_calls
            assert 1 <= await model.count_tokens("short") <= 5
            assert await model.count_tokens("") == 0
            assert mock.stats.tokenize_calls == probed
            text = "word " * 400
            assert await model.count_tokens(text) == 500
            assert await model.count_tokens(text) == 500
            assert mock.stats.tokenize_calls == probed + 1
            assert await model.count_tokens("word " * 1_000_000) > 1_000_000
            assert mock.stats.tokenize_calls == probed + 1


async def test_without_a_tokenizer_every_count_is_an_estimate() -> None:
    with MockEndpoint(MockConfig(server="plain")) as mock:
        async with endpoint(mock.url) as model:
            assert await model.count_tokens("word " * 4000) > 5000


async def test_a_page_instead_of_an_endpoint_is_named() -> None:
    import http.server
    import threading

    class _Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<html>hello</html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(EndpointError, match="text/html") as caught:
                await open_endpoint(EndpointConfig(f"http://127.0.0.1:{server.server_port}"))
        finally:
            server.shutdown()
            thread.join()
    assert "/v1" in str(caught.value)

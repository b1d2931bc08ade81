"""A callback for LiteLLM's proxy that cleans the answers of servers.

In the proxy's configuration:

```yaml
litellm_settings:
  callbacks: toolcall_parsers.litellm.guard
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litellm.integrations.custom_logger import CustomLogger

from . import _native
from ._requests import complete, forward_request, reading_settings
from ._streams import guard_chunks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Where a request keeps what its client asked for, after its body was changed for the server.
_ASKED = "toolcall_parsers_request"


class GuardCallback(CustomLogger):
    """Cleans the answers of models whose families are known.

    `families` maps names of models in the proxy's configuration to settings, such as
    `{"my-model": {"family": "qwen3", "server": "sglang"}}`. Other models are found by their names;
    the answers of an unknown model pass unchanged. `server` is the kind of server of the models that
    name none: `vllm`, `sglang`, `llama.cpp` or `ollama`.
    """

    def __init__(
        self,
        families: dict[str, dict[str, Any]] | None = None,
        *,
        server: str = "vllm",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._families = families or {}
        self._server = server

    def settings(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the settings for a request, or `None` for an unknown model."""
        found = self._found(request)
        return None if found is None else found[0]

    def _found(self, request: dict[str, Any]) -> tuple[dict[str, Any], Any] | None:
        """Return the settings for a request, and its server."""
        model = str(request.get("model") or "")
        metadata = request.get("metadata")
        asked = metadata.get(_ASKED) if isinstance(metadata, dict) else None
        body = request
        if asked is not None:
            # Other fields are those that the changed request has for the server.
            body = {"messages": request.get("messages"), **asked}
        # A model of a provider is written `provider/model`.
        for name in (model, model.partition("/")[2]):
            own = dict(self._families.get(name, {}))
            server = own.pop("server", self._server)
            settings = reading_settings({**body, "model": name}, own) if name else None
            if settings is not None:
                return settings, server
        return None

    async def async_pre_call_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        cache: Any,  # noqa: ARG002
        data: dict[str, Any],
        call_type: Any,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Ask the server for the raw text of the model."""
        found = self._found(data)
        if found is None or "messages" not in data:
            return data
        settings, server = found
        asked = settings["request"]
        formats = {
            name: data[name] for name in _native.REQUEST_FORMATS if data.get(name) is not None
        }
        sent = forward_request({**asked, **formats}, server=server, **settings)
        metadata = data.get("metadata")
        kept = {name: value for name, value in asked.items() if name not in ("model", "messages")}
        data["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), _ASKED: kept}
        for name, value in sent.items():
            if name not in ("model", "messages") and data.get(name) != value:
                data[name] = value
        # A server refuses the form that a grammar of the new request holds already.
        for name in formats.keys() - sent.keys():
            del data[name]
        return data

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        response: AsyncIterator[Any],
        request_data: dict[str, Any],
    ) -> AsyncIterator[Any]:
        """Clean the chunks of a stream."""
        settings = self.settings(request_data)
        stream = response if settings is None else guard_chunks(response, **settings)
        async for chunk in stream:
            yield chunk

    async def async_post_call_success_hook(
        self,
        data: dict[str, Any],
        user_api_key_dict: Any,  # noqa: ARG002
        response: Any,
    ) -> Any:
        """Clean a whole response."""
        settings = self.settings(data)
        if settings is None or not getattr(response, "choices", None):
            return response
        return type(response)(**complete(response.model_dump(exclude_none=True), settings))


guard = GuardCallback()
"""A callback without settings, for `callbacks: toolcall_parsers.litellm.guard`."""

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
from ._streams import guard_chunks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Where a request's body tells the guard something.
_FIELDS = ("tools", "tool_choice", "parallel_tool_calls", "stop", "n", "reasoning_effort")


class GuardCallback(CustomLogger):
    """Cleans the answers of models whose families are known.

    `families` maps names of models in the proxy's configuration to settings, such as
    `{"my-model": {"family": "qwen3"}}`. Other models are found by their names; the answers of an
    unknown model pass unchanged.
    """

    def __init__(self, families: dict[str, dict[str, Any]] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._families = families or {}

    def settings(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the settings for a request, or `None` for an unknown model."""
        model = str(request.get("model") or "")
        # A model of a provider is written `provider/model`.
        names = [model, model.partition("/")[2]]
        found = [self._families[name] for name in names if name in self._families]
        found += [{"model": name} for name in names if name]
        body = {name: request[name] for name in _FIELDS if request.get(name) is not None}
        for settings in found:
            try:
                profile = _native.profile(**settings)
            except _native.SettingsError:
                continue
            if not profile.get("tools") and not profile.get("response_template"):
                body.pop("tools", None)
            return {**settings, "request": body}
        return None

    async def async_pre_call_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        cache: Any,  # noqa: ARG002
        data: dict[str, Any],
        call_type: Any,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Ask the server to keep the family's special tokens in the text."""
        settings = self.settings(data)
        if settings is not None and _native.Guard(**settings).needs_special_tokens:
            data.setdefault("skip_special_tokens", False)
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
        clean = _native.ChatGuard(**settings).complete(response.model_dump(exclude_none=True))
        return type(response)(**clean)


guard = GuardCallback()
"""A callback without settings, for `callbacks: toolcall_parsers.litellm.guard`."""

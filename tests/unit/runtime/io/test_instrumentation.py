"""Metrics of webhooks and API requests: duration and outcome."""

import pytest

from engine.calls.flows.templates import Lookup
from engine.observe.metrics import Metrics
from engine.runtime.io.instrumentation import MeteredActionClient, MeteredApiRequests, node_and_slot
from engine.webhooks.action_client import ActionResponse
from engine.webhooks.api_sender import ApiResponse
from engine.webhooks.errors import Attempt, WebhookFailed

REQUEST = "3-pbx1-0123456789.r4"
TWICE = (Attempt(10, 503, "status_503"), Attempt(10, 200))


class ScriptedActions:
    """A customer's server with one scripted result."""

    def __init__(self, result: ActionResponse | WebhookFailed) -> None:
        self._result = result

    async def ask(
        self, account: str, url: str, body: bytes, request_id: str, sensitive: str = ""
    ) -> ActionResponse:
        """Answer, or fail."""
        assert (account, url, body, request_id) == ("acme", "https://x.example/", b"{}", REQUEST)
        assert not sensitive
        if isinstance(self._result, WebhookFailed):
            raise self._result
        return self._result


async def test_a_response_after_a_retry() -> None:
    """It metrics as answered for the node and slot of its call, and as retried."""
    metrics = Metrics()
    response = ActionResponse(None, TWICE)
    client = MeteredActionClient(ScriptedActions(response), metrics)
    assert await client.ask("acme", "https://x.example/", b"{}", REQUEST) is response
    assert metrics.external.webhook_duration.series("pbx1", 3, "answered").count == 1
    assert dict(metrics.external.webhook_retries) == {("pbx1", "3"): 1}
    assert metrics.external.webhook_failures.total == 0


@pytest.mark.parametrize(
    ("reason", "outcome"), [("timeout", "timeout"), ("connect", "failed"), ("status_500", "failed")]
)
async def test_a_failure_is_counted_by_reason(reason: str, outcome: str) -> None:
    """Timeouts count separately: they are the longest silence for a caller."""
    metrics = Metrics()
    client = MeteredActionClient(ScriptedActions(WebhookFailed(reason, "", ())), metrics)
    with pytest.raises(WebhookFailed):
        await client.ask("acme", "https://x.example/", b"{}", REQUEST)
    assert metrics.external.webhook_duration.series("pbx1", 3, outcome).count == 1
    assert dict(metrics.external.webhook_failures) == {("pbx1", "3", reason): 1}


class ScriptedApiRequests:
    """API requests that all succeed except one."""

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Answer, or fail."""
        assert (account, key, values("digits")) == ("acme", REQUEST, None)
        if api == "gone":
            raise WebhookFailed("unknown_request", "", ())
        return ApiResponse(200, {}, TWICE)


async def test_an_api_request_counts_as_a_webhook() -> None:
    """A caller waits for it in silence, too."""
    metrics = Metrics()
    requests = MeteredApiRequests(ScriptedApiRequests(), metrics)
    await requests.ask("acme", "there", lambda _name: None, REQUEST)
    with pytest.raises(WebhookFailed):
        await requests.ask("acme", "gone", lambda _name: None, REQUEST)
    assert metrics.external.webhook_duration.series("pbx1", 3, "answered").count == 1
    assert dict(metrics.external.webhook_retries) == {("pbx1", "3"): 1}
    assert dict(metrics.external.webhook_failures) == {("pbx1", "3", "unknown_request"): 1}


def test_a_request_of_no_call_has_no_labels() -> None:
    """Unknown node and slot labels stay empty."""
    assert node_and_slot(REQUEST) == ("pbx1", "3")
    assert node_and_slot("strange") == ("", "")

"""Customers' servers, counted: how long they took, and what became of it."""

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
    """A customer's server that does as it was told."""

    def __init__(self, result: ActionResponse | WebhookFailed) -> None:
        self._result = result

    async def ask(self, url: str, body: bytes, request_id: str) -> ActionResponse:
        """Answer, or fail."""
        assert (url, body, request_id) == ("https://x.example/", b"{}", REQUEST)
        if isinstance(self._result, WebhookFailed):
            raise self._result
        return self._result


async def test_an_answer_after_a_retry() -> None:
    """It counts as answered, by the node and slot of its call, and as asked twice."""
    counts = Metrics()
    answer = ActionResponse(None, TWICE)
    asker = MeteredActionClient(ScriptedActions(answer), counts)
    assert await asker.ask("https://x.example/", b"{}", REQUEST) is answer
    assert counts.external.webhook_duration.series("pbx1", 3, "answered").count == 1
    assert dict(counts.external.webhook_retries) == {("pbx1", "3"): 1}
    assert counts.external.webhook_failures.total == 0


@pytest.mark.parametrize(
    ("reason", "outcome"), [("timeout", "timeout"), ("connect", "failed"), ("status_500", "failed")]
)
async def test_a_failure_is_counted_by_why(reason: str, outcome: str) -> None:
    """Timeouts stand apart: they are the longest silence that a caller hears."""
    counts = Metrics()
    asker = MeteredActionClient(ScriptedActions(WebhookFailed(reason, "", ())), counts)
    with pytest.raises(WebhookFailed):
        await asker.ask("https://x.example/", b"{}", REQUEST)
    assert counts.external.webhook_duration.series("pbx1", 3, outcome).count == 1
    assert dict(counts.external.webhook_failures) == {("pbx1", "3", reason): 1}


class ScriptedApiRequests:
    """APIs that answer all but one request."""

    async def ask(self, account: str, api: str, values: Lookup, key: str) -> ApiResponse:
        """Answer, or fail."""
        assert (account, key, values("digits")) == ("acme", REQUEST, None)
        if api == "gone":
            raise WebhookFailed("no_request", "", ())
        return ApiResponse(200, {}, TWICE)


async def test_an_api_request_counts_as_a_webhook() -> None:
    """It is silence that a caller hears, too."""
    counts = Metrics()
    apis = MeteredApiRequests(ScriptedApiRequests(), counts)
    await apis.ask("acme", "there", lambda _name: None, REQUEST)
    with pytest.raises(WebhookFailed):
        await apis.ask("acme", "gone", lambda _name: None, REQUEST)
    assert counts.external.webhook_duration.series("pbx1", 3, "answered").count == 1
    assert dict(counts.external.webhook_retries) == {("pbx1", "3"): 1}
    assert dict(counts.external.webhook_failures) == {("pbx1", "3", "no_request"): 1}


def test_a_question_of_no_call_has_no_place() -> None:
    """What can't be told is left open."""
    assert node_and_slot(REQUEST) == ("pbx1", "3")
    assert node_and_slot("strange") == ("", "")

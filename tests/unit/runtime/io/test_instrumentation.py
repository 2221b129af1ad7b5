"""Customers' servers, counted: how long they took, and what became of it."""

import pytest

from engine.calls.flows.templates import Values
from engine.observe.metrics import Meter
from engine.runtime.io.instrumentation import MeteredActionClient, MeteredApiRequests, node_and_slot
from engine.webhooks.action_client import Answer
from engine.webhooks.api_sender import ApiAnswer
from engine.webhooks.errors import Attempt, WebhookFailed

REQUEST = "3-pbx1-0123456789.r4"
TWICE = (Attempt(10, 503, "status_503"), Attempt(10, 200))


class Scripted:
    """A customer's server that does as it was told."""

    def __init__(self, result: Answer | WebhookFailed) -> None:
        self._result = result

    async def ask(self, url: str, body: bytes, request_id: str) -> Answer:
        """Answer, or fail."""
        assert (url, body, request_id) == ("https://x.example/", b"{}", REQUEST)
        if isinstance(self._result, WebhookFailed):
            raise self._result
        return self._result


async def test_an_answer_after_a_retry() -> None:
    """It counts as answered, by the node and slot of its call, and as asked twice."""
    counts = Meter()
    answer = Answer(None, TWICE)
    asker = MeteredActionClient(Scripted(answer), counts)
    assert await asker.ask("https://x.example/", b"{}", REQUEST) is answer
    assert counts.outside.webhooks.of("pbx1", 3, "answered").count == 1
    assert dict(counts.outside.webhook_retries) == {("pbx1", "3"): 1}
    assert counts.outside.webhook_faults.total == 0


@pytest.mark.parametrize(
    ("reason", "outcome"), [("timeout", "timeout"), ("connect", "failed"), ("status_500", "failed")]
)
async def test_a_failure_is_counted_by_why(reason: str, outcome: str) -> None:
    """Timeouts stand apart: they are the longest silence that a caller hears."""
    counts = Meter()
    asker = MeteredActionClient(Scripted(WebhookFailed(reason, "", ())), counts)
    with pytest.raises(WebhookFailed):
        await asker.ask("https://x.example/", b"{}", REQUEST)
    assert counts.outside.webhooks.of("pbx1", 3, outcome).count == 1
    assert dict(counts.outside.webhook_faults) == {("pbx1", "3", reason): 1}


class ScriptedApis:
    """APIs that answer all but one request."""

    async def ask(self, account: str, api: str, values: Values, key: str) -> ApiAnswer:
        """Answer, or fail."""
        assert (account, key, values("digits")) == ("acme", REQUEST, None)
        if api == "gone":
            raise WebhookFailed("no_request", "", ())
        return ApiAnswer(200, {}, TWICE)


async def test_an_api_request_counts_as_a_webhook() -> None:
    """It is silence that a caller hears, too."""
    counts = Meter()
    apis = MeteredApiRequests(ScriptedApis(), counts)
    await apis.ask("acme", "there", lambda _name: None, REQUEST)
    with pytest.raises(WebhookFailed):
        await apis.ask("acme", "gone", lambda _name: None, REQUEST)
    assert counts.outside.webhooks.of("pbx1", 3, "answered").count == 1
    assert dict(counts.outside.webhook_retries) == {("pbx1", "3"): 1}
    assert dict(counts.outside.webhook_faults) == {("pbx1", "3", "no_request"): 1}


def test_a_question_of_no_call_has_no_place() -> None:
    """What can't be told is left open."""
    assert node_and_slot(REQUEST) == ("pbx1", "3")
    assert node_and_slot("strange") == ("", "")

"""Metrics of webhooks and API requests: duration and outcome."""

import pytest

from engine.observe.metrics import Metrics
from engine.runtime.io.instrumentation import Measured, node_and_slot
from engine.webhooks.action_client import ActionResponse
from engine.webhooks.errors import Attempt, WebhookFailed

REQUEST = "3-pbx1-0123456789.r4"
TWICE = (Attempt(10, 503, "status_503"), Attempt(10, 200))


async def request(result: ActionResponse | WebhookFailed) -> ActionResponse:
    """Return the scripted result of a request to a customer's server, or raise it."""
    if isinstance(result, WebhookFailed):
        raise result
    return result


async def test_a_response_after_a_retry() -> None:
    """It metrics as answered for the node and slot of its call, and as retried."""
    metrics = Metrics()
    response = ActionResponse(None, TWICE)
    assert await Measured(metrics)(REQUEST, request(response)) is response
    assert metrics.external.webhook_duration.series("pbx1", 3, "answered").count == 1
    assert dict(metrics.external.webhook_retries) == {("pbx1", "3"): 1}
    assert metrics.external.webhook_failures.total == 0


@pytest.mark.parametrize(
    ("reason", "outcome"), [("timeout", "timeout"), ("connect", "failed"), ("status_500", "failed")]
)
async def test_a_failure_is_counted_by_reason(reason: str, outcome: str) -> None:
    """Timeouts count separately: they are the longest silence for a caller."""
    metrics = Metrics()
    with pytest.raises(WebhookFailed):
        await Measured(metrics)(REQUEST, request(WebhookFailed(reason, "", ())))
    assert metrics.external.webhook_duration.series("pbx1", 3, outcome).count == 1
    assert dict(metrics.external.webhook_failures) == {("pbx1", "3", reason): 1}


def test_a_request_of_no_call_has_no_labels() -> None:
    """Unknown node and slot labels stay empty."""
    assert node_and_slot(REQUEST) == ("pbx1", "3")
    assert node_and_slot("strange") == ("", "")

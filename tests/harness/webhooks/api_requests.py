"""API requests that a test sends."""

import time
from typing import Any

import pytest
from aiohttp import ClientSession

from engine.webhooks.api_sender import ApiResponse, ApiSender
from engine.webhooks.errors import WebhookFailed
from engine.webhooks.log.exchange import Subject
from engine.webhooks.signatures import Signer
from tests.harness.signing import SIGNING_SECRET
from wire.request import ApiRequest

SECRET = "s3cr3t"  # noqa: S105 - of a server that lives for one test
KEY = "0-pbx1-abc.r1"


def known(**values: Any) -> Any:
    """Return values by name; two underscores stand for a dot."""
    return lambda name: values.get(name.replace(".", "__"))


async def send(session: ClientSession, request: ApiRequest, **values: Any) -> ApiResponse:
    """Send a request."""
    return await ApiSender(lambda _: session, time.time, lambda: 0.5).send(
        request, known(**values), Subject("acme", "request", KEY), Signer(SIGNING_SECRET)
    )


async def failure(session: ClientSession, request: ApiRequest, **values: Any) -> str:
    """Send a request that must fail; return the reason."""
    with pytest.raises(WebhookFailed) as failed:
        await send(session, request, **values)
    assert SECRET not in str(failed.value)
    return failed.value.reason

"""Ids and secrets of the simulated messaging platform, and the webhooks that it sends."""

import hashlib
import hmac
import json
import time
from typing import Any

APP, SECRET, VERIFY = "584544743160774", "the-apps-secret", "the-verify-token"
PRODUCT, VERSION = "simulated", "v23.0"


def business_id(account: str) -> str:
    """Return the id of an account's business account."""
    return f"business-{account}"


def phone_id(account: str) -> str:
    """Return the id of an account's phone number."""
    return f"phone-{account}"


def token(account: str) -> str:
    """Return the token of an account's business account."""
    return f"token-of-{account}"


def status_webhook(
    account: str, template_id: str, event: str, *, at_s: int = 0, **value: Any
) -> tuple[bytes, dict[str, str]]:
    """Return the body and the signature header of a template status webhook."""
    status = {
        "event": event,
        "message_template_id": int(template_id),
        "message_template_name": "hello",
        "message_template_language": "en-US",
        "reason": "NONE",
        **value,
    }
    change = {"field": "message_template_status_update", "value": status}
    entry = {"id": business_id(account), "time": at_s or int(time.time()), "changes": [change]}
    return signed({"object": "business_account", "entry": [entry]})


def signed(payload: Any, secret: str = SECRET) -> tuple[bytes, dict[str, str]]:
    """Return the payload as JSON with its signature header."""
    body = json.dumps(payload).encode()
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return body, {"X-Hub-Signature-256": f"sha256={digest}"}

"""The TypeScript SDK: types, its own tests, signatures of the engine, and a real REST layer."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from engine.webhooks.signatures import Signer
from tests.contract.sdk.conftest import NUMBER, Server
from tests.harness import npm
from tests.harness.signing import SIGNING_SECRET

NOW_S = 1_795_262_400
OTHER = "whsec_b3RoZXIgc2VjcmV0IG9mIGFub3RoZXI="
URLS = (  # as they are sent, and as a customer states them
    ("https://example.com", "https://example.com/"),
    ("HTTPS://Example.com:443/A b?c=%2f#d", "https://example.com/A%20b?c=%2f"),
    ("wss://bot.example/in?a=1", "WSS://bot.example:443/in?a=1"),
    ("http://[::1]:80/", "http://[::1]"),
)
BODY = '{"callId":"c1","dtmf":"1","customData":{"name":"Åse \\ud83d\\ude00"}}'


@pytest.fixture
async def packages() -> None:
    """Install the packages; skip without npm or its registry."""
    if reason := await asyncio.to_thread(npm.install_sdk):
        pytest.skip(reason)


def vectors() -> list[dict[str, object]]:
    """Return requests that the engine's signer has signed."""
    signers = (Signer(SIGNING_SECRET), Signer(OTHER, SIGNING_SECRET))
    return [
        {
            "secrets": [SIGNING_SECRET],
            "url": stated,
            "headers": signer.headers("r1", NOW_S, body.encode(), sent),
            "body": body,
            "atS": NOW_S + age_s,
        }
        for signer in signers
        for body in (BODY, "{}", "")
        for age_s in (-299, 0, 299)
        for sent, stated in URLS
    ]


@pytest.mark.usefixtures("packages")
async def test_types_are_strict() -> None:
    """`tsc` finds nothing in the SDK, its samples and its tests."""
    done = await asyncio.to_thread(npm.run_script, "check")
    assert done.returncode == 0, done.stdout


@pytest.mark.usefixtures("packages")
async def test_the_typescript_sdk_works_with_engine_and_rest_layer(
    server: Server, tmp_path: Path
) -> None:
    """Its own tests pass, with vectors of the engine's signer and a served REST layer."""
    signatures = tmp_path / "signatures.json"
    signatures.write_text(json.dumps(vectors()))
    env = {
        **os.environ,
        "SIGNATURES": str(signatures),
        "SWITCHROOM_API_URL": server.url,
        "SWITCHROOM_API_KEY": server.key,
        "NUMBER": NUMBER,
    }
    done = await asyncio.to_thread(npm.run_script, "test", env)
    assert done.returncode == 0, done.stdout
    assert "# skipped 0" in done.stdout

"""A transport whose packages are not installed."""

from engine.callbacks.transport import Failed, SignedEvent, UninstalledTransport
from wire.callbacks.targets import HttpsTarget


async def test_every_delivery_fails_and_is_retried() -> None:
    """Another engine may have the packages."""
    outcome = await UninstalledTransport().deliver(
        HttpsTarget("https://x.example"), SignedEvent("acme", "c1.e1", b"{}", {})
    )
    assert outcome == Failed("not_installed")

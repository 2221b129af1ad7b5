"""Stands for a transport whose packages are not installed: every delivery fails."""

from engine.callbacks.transport import Failed, Outcome, SignedEvent
from wire.callbacks.targets import DeliveryTarget


class UninstalledTransport:
    """Events are retried, so an engine that has the packages still delivers them."""

    async def deliver(self, _target: DeliveryTarget, _event: SignedEvent) -> Outcome:
        return Failed("not_installed")

"""Limits of the faults, in milliseconds."""

from tests.harness.servers.cluster import LEASE_S
from tools.chaos.outcome import Limits

LEASE_MS = LEASE_S * 1000
CRASHED = Limits(control_ms=LEASE_MS + 1000, unowned_ms=LEASE_MS + 1000)
HANDED_OVER = Limits(control_ms=500, unowned_ms=250)
RECOVERED = Limits(control_ms=LEASE_MS + 1000)  # counted from the recovery

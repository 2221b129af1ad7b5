"""Listens to the reports of one gateway, and notices when it stands still."""

from collections.abc import Callable

from engine.runtime.streams.gateway_pool import Gateway
from engine.runtime.streams.report_feed import ReportFeed
from wire.streams.reports import Report

# Of connections in a row. One alone may have failed because this engine stood still.
SILENT_FAILURES = 2
SILENT_S = 3.0  # since the connection was lost: less may be a restart, or a busy machine
DEAD_S = 15.0  # since then, if no other gateway can take its streams


class GatewayListener:
    """Implements `ReportListener`."""

    def __init__(self, gateway: Gateway, reports: ReportFeed, now_s: Callable[[], float]) -> None:
        self._gateway = gateway
        self._reports = reports
        self._now_s = now_s
        self._lost_s = now_s()
        self._failures = 0

    def on_connected(self) -> None:
        self._gateway.is_connected = True
        self._failures = 0

    def on_report(self, report: Report) -> None:
        self._reports.on_report(self._gateway, report)
        self._gateway.tried.set()  # the first one is its snapshot

    def on_disconnected(self) -> None:
        if self._gateway.is_connected:
            self._lost_s = self._now_s()
        else:
            self._failures += 1
        self._gateway.is_connected = self._gateway.is_known = False
        self._gateway.tried.set()
        silent_s = self._now_s() - self._lost_s
        if self._failures >= SILENT_FAILURES and silent_s >= SILENT_S:
            self._reports.on_gateway_silent(self._gateway, is_dead=silent_s >= DEAD_S)

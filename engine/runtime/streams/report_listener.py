"""Listens to the reports of one gateway."""

from engine.runtime.streams.gateway_pool import Gateway
from engine.runtime.streams.node_streams import NodeStreams
from wire.streams.reports import Report


class GatewayListener:
    """Implements `ReportListener`."""

    def __init__(self, gateway: Gateway, streams: NodeStreams) -> None:
        self._gateway = gateway
        self._streams = streams

    def on_connected(self) -> None:
        self._gateway.is_connected = True

    def on_report(self, report: Report) -> None:
        self._streams.on_report(self._gateway, report)
        self._gateway.tried.set()  # the first one is its snapshot

    def on_disconnected(self) -> None:
        self._gateway.is_connected = False
        self._gateway.tried.set()

"""All faults of streams with their limits."""

from collections.abc import Mapping

from tools.chaos.streams.faults import bots, engines, gateways, nodes, recognizers, stores
from tools.chaos.streams.run import StreamFault

FAULTS: Mapping[str, StreamFault] = {
    **engines.FAULTS,
    **gateways.FAULTS,
    **bots.FAULTS,
    **recognizers.FAULTS,
    **stores.FAULTS,
    **nodes.FAULTS,
}

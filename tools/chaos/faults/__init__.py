"""All faults with their limits."""

from collections.abc import Mapping

from tools.chaos.faults import deploys, engines, networks, nodes, rest, stores
from tools.chaos.run import Fault

FAULTS: Mapping[str, Fault] = {
    **engines.FAULTS,
    **networks.FAULTS,
    **nodes.FAULTS,
    **stores.FAULTS,
    **deploys.FAULTS,
    **rest.FAULTS,
}

"""All faults with their limits."""

from collections.abc import Mapping

from tests.chaos.faults import deploys, engines, networks, nodes, rest, stores
from tests.chaos.run import Fault

FAULTS: Mapping[str, Fault] = {
    **engines.FAULTS,
    **networks.FAULTS,
    **nodes.FAULTS,
    **stores.FAULTS,
    **deploys.FAULTS,
    **rest.FAULTS,
}

"""The faults: what happens to a scene, and within which limits it must be over."""

from collections.abc import Mapping

from tests.chaos.faults import deploys, engines, networks, nodes, stores
from tests.chaos.run import Fault

FAULTS: Mapping[str, Fault] = {
    **engines.FAULTS,
    **networks.FAULTS,
    **nodes.FAULTS,
    **stores.FAULTS,
    **deploys.FAULTS,
}

"""Real servers as processes for tests, on free ports, stopped by their own process ids."""

from dev.servers.process import Process
from dev.servers.server import Server
from tests.harness.pbx.asterisk import Pbx, Ports, Secrets
from tests.harness.ports import free_port, free_ports
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

__all__ = [
    "Pbx",
    "Ports",
    "Process",
    "Secrets",
    "Server",
    "Valkey",
    "free_port",
    "free_ports",
    "until",
]

"""The lab of the tests: real servers as processes, on free ports, ended by their own ids."""

from tests.harness.pbx import Pbx, Ports, Secrets
from tests.harness.ports import free_port, free_ports
from tests.harness.process import Process
from tests.harness.server import Server
from tests.harness.until import until
from tests.harness.valkey import Valkey

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

"""The generated messages are those of the published description."""

import subprocess
import sys


def test_the_wire_alone_needs_no_grpc() -> None:
    """Who only knows the shapes does not load gRPC."""
    code = "import sys, wire.rpc, wire.callbacks; sys.exit('grpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Imports of the protobuf code."""

import subprocess
import sys


def test_wire_imports_no_grpc() -> None:
    """A client that only needs the shapes does not load gRPC."""
    code = "import sys, wire.rpc, wire.callbacks.account; sys.exit('grpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

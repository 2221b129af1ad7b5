"""The generated messages are those of the published description."""

import subprocess
import sys
from pathlib import Path

from tests.harness.proto import GENERATED, WIRE, generate


def test_generated_anew_it_is_the_same(tmp_path: Path) -> None:
    """`make proto` changes nothing."""
    generate(tmp_path)
    for name in GENERATED:
        assert (tmp_path / name).read_text() == (WIRE / "generated" / name).read_text()


def test_the_wire_alone_needs_no_grpc() -> None:
    """Who only knows the shapes does not load gRPC."""
    code = "import sys, wire.rpc, wire.callbacks; sys.exit('grpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

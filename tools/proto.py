"""`make proto`: generates the gRPC messages of status callbacks from wire/callback.proto."""

from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

WIRE = Path(__file__).parents[1] / "wire"
GENERATED = ("callback_pb2.py", "callback_pb2.pyi")


def generate(out: Path) -> None:
    """Write the generated files into a folder; raises RuntimeError if protoc fails."""
    includes = files("grpc_tools") / "_proto"
    status = protoc.main(
        [
            "protoc",
            f"--proto_path={WIRE}",
            f"--proto_path={includes}",
            f"--python_out={out}",
            f"--pyi_out={out}",
            "callback.proto",
        ]
    )
    if status != 0:
        raise RuntimeError("protoc failed on callback.proto")


if __name__ == "__main__":
    generate(WIRE / "generated")

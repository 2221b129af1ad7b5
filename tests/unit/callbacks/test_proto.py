"""The generated protobuf code matches the published .proto file."""

from pathlib import Path

from tools.proto import GENERATED, WIRE, generate


def test_the_generated_code_is_current(tmp_path: Path) -> None:
    """`make proto` changes nothing."""
    generate(tmp_path)
    for name in GENERATED:
        assert (tmp_path / name).read_text() == (WIRE / "generated" / name).read_text()

"""The generated messages are those of the published description."""

from pathlib import Path

from tests.harness.generate.proto import GENERATED, WIRE, generate


def test_generated_anew_it_is_the_same(tmp_path: Path) -> None:
    """`make proto` changes nothing."""
    generate(tmp_path)
    for name in GENERATED:
        assert (tmp_path / name).read_text() == (WIRE / "generated" / name).read_text()

"""The generated files of the SDKs are up to date."""

from tests.harness.generate.sdk import __main__ as generator


def test_generated_files_are_up_to_date() -> None:
    """`make docs` changes none of them."""
    for path, text in generator.sources().items():
        assert path.read_text() == text, f"{path}: run `make docs`"

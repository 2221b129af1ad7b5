"""`make docs`: write the published JSON Schemas into docs/schemas."""

from pathlib import Path

import msgspec

from wire.schemas import event_schema

FOLDER = Path(__file__).parents[2] / "docs/schemas"


def main() -> None:
    """Write them all."""
    schema = msgspec.json.format(msgspec.json.encode(event_schema()))
    (FOLDER / "call-event.json").write_bytes(schema + b"\n")


if __name__ == "__main__":
    main()

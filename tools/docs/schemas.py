"""`make docs`: write the published JSON Schemas into docs/schemas."""

from pathlib import Path

import msgspec

from wire.schemas import DOCUMENTS

FOLDER = Path(__file__).parents[2] / "docs/schemas"


def main() -> None:
    for name, schema in DOCUMENTS.items():
        text = msgspec.json.format(msgspec.json.encode(schema()))
        (FOLDER / name).write_bytes(text + b"\n")


if __name__ == "__main__":
    main()

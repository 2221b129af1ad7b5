"""`python -m tools.docs.published FOLDER`: writes the documents that programs read.

They are the OpenAPI documents of both servers, AsyncAPI's of event streams and callbacks, and the
JSON Schemas. Servers give them out, too; the site and each release have a copy.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from tools.docs.reference import openapi
from tools.docs.reference.asyncapi import asyncapi_document
from wire import schemas

DOCUMENTS: Mapping[str, Callable[[], Any]] = {
    "openapi/rest.json": openapi.DOCUMENTS["rest"],
    "openapi/rpc.json": openapi.DOCUMENTS["rpc"],
    "asyncapi.json": asyncapi_document,
    **{f"schemas/{name}": make for name, make in schemas.DOCUMENTS.items()},
}


def write(folder: Path) -> None:
    """Write all documents to a folder."""
    for name, make in DOCUMENTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(make()), indent=1) + b"\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

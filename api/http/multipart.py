"""Forms with a file (multipart/form-data), read when it is known who sends them.

As arguments of a route their parts would be read, and written to disk, before that.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from msgspec import Struct
from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile

from wire.errors import BadInput

MAX_FIELDS = 4
UTF_8 = (b"utf-8", b"utf8")
MAX_FIELD_BYTES = 65_536
CHUNK = 1 << 20


class Form(Struct, frozen=True):
    """A form that was sent: its fields, and its file if there is one."""

    fields: Mapping[str, str]
    file: UploadFile | None

    def field(self, name: str) -> str:
        """Give a field; raises BadInput."""
        if name not in self.fields:
            raise BadInput(name, "required, as a field of a form (multipart/form-data)")
        return self.fields[name]

    def required_file(self) -> UploadFile:
        """Give the file; raises BadInput."""
        if self.file is None:
            raise BadInput("file", "required, as a file of a form (multipart/form-data)")
        return self.file

    async def digest(self) -> bytes:
        """Tell what was sent from anything else, whatever the boundary between its parts was."""
        told = hashlib.sha256(repr(sorted(self.fields.items())).encode())
        if self.file is not None:
            told.update(repr(self.file.filename).encode())
            while chunk := await self.file.read(CHUNK):
                await asyncio.to_thread(told.update, chunk)
            await self.file.seek(0)
        return told.digest()


@asynccontextmanager
async def read_form(request: Request) -> AsyncIterator[Form]:
    """Read a form with at most one file, `file`; what is large of it lies on disk meanwhile."""
    _check_letters(request)
    parts = request.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES)
    async with parts as given:
        fields = {name: each for name, each in given.items() if isinstance(each, str)}
        file = given.get("file")
        yield Form(fields, file if isinstance(file, UploadFile) else None)


def _check_letters(request: Request) -> None:
    """Refuse a charset: RFC 7578 has none, and some that Python knows give what is no text."""
    _, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"utf-8").lower() not in UTF_8:
        raise BadInput("", "a form's texts are UTF-8: no other charset is expected")


def form_schema(
    properties: Mapping[str, Any], required: tuple[str, ...], example: Mapping[str, str]
) -> dict[str, Any]:
    """Describe a form for the document, as a route's body; `file` is its file."""
    file = {"type": "string", "format": "binary"}
    schema = {
        "type": "object",
        "properties": {"file": file, **properties},
        "required": list(required),
    }
    return {"content": {"multipart/form-data": {"schema": schema, "example": dict(example)}}}

"""Forms with a file (multipart/form-data), read after the request is authenticated.

FastAPI's own form parameters are read, and written to disk, before that.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Annotated, Any

from fastapi import Depends, Request
from msgspec import Struct
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartParser

from api.http.upload_slots import UploadSlots
from wire.decoding.errors import BadInput

MAX_FIELDS = 4
UTF_8 = (b"utf-8", b"utf8")
MAX_FIELD_BYTES = 65_536
CHUNK = 1 << 20
MAX_MEMORY_BYTES = MultiPartParser.spool_max_size


class Form(Struct, frozen=True):
    """The fields of a form, and its file if there is one."""

    fields: Mapping[str, str]
    file: UploadFile | None

    def field(self, name: str) -> str:
        """Return a field; raises BadInput."""
        if name not in self.fields:
            raise BadInput(name, "required, as a field of a form (multipart/form-data)")
        return self.fields[name]

    def required_file(self) -> UploadFile:
        """Return the file; raises BadInput."""
        if self.file is None:
            raise BadInput("file", "required, as a file of a form (multipart/form-data)")
        return self.file

    async def digest(self) -> bytes:
        """Return a hash of the content, which does not depend on the boundary of the parts."""
        digest = hashlib.sha256(repr(sorted(self.fields.items())).encode())
        if self.file is not None:
            digest.update(repr(self.file.filename).encode())
            while chunk := await self.file.read(CHUNK):
                await asyncio.to_thread(digest.update, chunk)
            await self.file.seek(0)
        return digest.digest()


async def read_form(request: Request) -> AsyncIterator[Form]:
    """Read a form with at most one file, `file`; large parts lie on disk meanwhile."""
    _check_charset(request)
    slots: UploadSlots = request.state.services.upload_slots
    async with AsyncExitStack() as stack:
        if _is_large(request):
            upload = await stack.enter_async_context(slots.slot(request.state.account_id))
            async with upload.receiving():
                received = await stack.enter_async_context(_parts(request))
        else:
            received = await stack.enter_async_context(_parts(request))
        fields = {name: each for name, each in received.items() if isinstance(each, str)}
        file = received.get("file")
        yield Form(fields, file if isinstance(file, UploadFile) else None)


def _parts(request: Request) -> AbstractAsyncContextManager[FormData]:
    return request.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES)


MultipartForm = Annotated[Form, Depends(read_form)]  # after the user: dependencies run in order


def _is_large(request: Request) -> bool:
    """Return whether a form may need the disk; Starlette keeps smaller ones in memory."""
    length = request.headers.get("content-length", "")
    return not length.isdecimal() or int(length) > MAX_MEMORY_BYTES


def _check_charset(request: Request) -> None:
    """Reject other charsets: RFC 7578 has none, and some of Python's codecs return no text."""
    _, options = parse_options_header(request.headers.get("content-type"))
    if options.get(b"charset", b"utf-8").lower() not in UTF_8:
        raise BadInput("", "a form's texts are UTF-8: no other charset is expected")


def form_schema(
    properties: Mapping[str, Any], required: tuple[str, ...], example: Mapping[str, str]
) -> dict[str, Any]:
    """Return the OpenAPI schema of a form as a route's body; `file` is its file."""
    file = {"type": "string", "format": "binary"}
    schema = {
        "type": "object",
        "properties": {"file": file, **properties},
        "required": list(required),
    }
    return {"content": {"multipart/form-data": {"schema": schema, "example": dict(example)}}}

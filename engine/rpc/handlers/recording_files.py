"""RPC operations on archived recordings: read with ranges, and delete."""

import re

from aiohttp import web
from msgspec import Struct

from engine.recordings import Archive, ArchiveError, Unsatisfiable, byte_range
from engine.rpc.problems import NotFound, Unavailable, problem_response
from wire.error_codes.problems import coded_problem

_ACCOUNT = re.compile(r"[A-Za-z0-9_\-]{1,64}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FILE = re.compile(r"[A-Za-z0-9_\-]{1,128}(\.v[0-9]{1,6})?\.wav")


class RecordingFileHandlers(Struct, frozen=True):
    archive: Archive | None

    async def get(self, request: web.Request) -> web.StreamResponse:
        archive, path = self._archive(), _path(request)
        size = await self._size(archive, path)
        try:
            part = byte_range(request.headers.get("Range", ""), size)
        except Unsatisfiable:
            problem = coded_problem(416, "range", f"the recording has {size} bytes")
            return problem_response(problem, {"Content-Range": f"bytes */{size}"})
        start, stop = part or (0, size)
        headers = {"Accept-Ranges": "bytes", "Content-Length": str(stop - start)}
        if part:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        response = web.StreamResponse(status=206 if part else 200, headers=headers)
        response.content_type = "audio/wav"
        await response.prepare(request)
        async for chunk in archive.read(path, start, stop):
            await response.write(chunk)
        await response.write_eof()
        return response

    async def delete(self, request: web.Request) -> None:
        archive, path = self._archive(), _path(request)
        await self._size(archive, path)
        try:
            await archive.delete(path)
        except ArchiveError as error:
            raise Unavailable(str(error)) from error

    def _archive(self) -> Archive:
        if self.archive is None:
            raise NotFound("no recording: this engine has no archive")
        return self.archive

    async def _size(self, archive: Archive, path: str) -> int:
        try:
            size = await archive.size(path)
        except ArchiveError as error:
            raise Unavailable(str(error)) from error
        if size is None:
            raise NotFound(f"no recording {path}")
        return size


def _path(request: web.Request) -> str:
    """Return the path in the archive; raises NotFound."""
    given = request.match_info
    parts = ((_ACCOUNT, given["account"]), (_DAY, given["day"]), (_FILE, given["file"]))
    if not all(pattern.fullmatch(text) for pattern, text in parts):
        raise NotFound("no such recording")
    return "/".join(text for _pattern, text in parts)

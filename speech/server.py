"""One process of recognizers: built from the settings, serving until it is stopped."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from ssl import SSLContext

import structlog
from aiohttp import ClientSession, web
from msgspec import Struct, json

from base.listen import listening
from base.tls import server_context
from speech.cloud.assemblyai import AssemblyAiRecognizer, AssemblyAiSettings
from speech.cloud.deepgram import DeepgramRecognizer, DeepgramSettings
from speech.cloud.openai import OpenAiRecognizer, OpenAiSettings
from speech.offline_recognizers import GrammarRecognizer, WhisperRecognizer
from speech.recognizer import Recognizer
from speech.settings import Settings
from speech.stream import MAX_MESSAGE_BYTES, Stream, StreamLimits
from speech.vocabulary import read_dictionary
from speech.worker.process import WorkerLimits, WorkerPool, WorkerPools
from wire.error_codes.catalogue import code_of_status
from wire.error_codes.problems import coded_problem
from wire.streams.recognizer import ListedRecognizer

_DICTIONARY = "model/en-us/cmudict-en-us.dict"  # in the package of pocketsphinx
# Addresses that worker processes may have. Each decoder of a grammar maps the same model.
_WORKER_BYTES = 1 << 30
_GRAMMAR_BYTES = 32 << 20
_WHISPER_BYTES = 4 << 30
# A grammar has the time of 20 ms, Whisper a second for an utterance, a recording hours.
_WHISPER_NICENESS, _RECORDING_NICENESS = 5, 10
_WHISPER_BEHIND_S = 10.0  # its jobs may wait for the utterances of two streams
_RECORDING_REPLY_S = 120.0  # no caller waits for it, and others may need the processors
log = structlog.get_logger()


class NoRecognizer(Exception):
    """Neither a package nor a setting gives this process a recognizer."""


class SpeechProcess:
    """The recognizers of this process; `run` returns when `stop` was called."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        self._stopped.set()

    async def run(self) -> None:
        """Serve; raises NoRecognizer, TlsFileError or BindFailed."""
        settings = self._settings
        async with AsyncExitStack() as stack:
            found = await self._recognizers(stack)
            if not found:
                raise NoRecognizer(
                    "there is no recognizer: install the extra `recognition`, or set"
                    f" SWITCHROOM_SPEECH_WHISPER_MODEL, {' or '.join(CLOUD_KEYS)}"
                )
            certificate, key = settings.speech_tls_cert, settings.speech_tls_key
            server = SpeechServer(
                {each.name: each for each in found},
                settings.speech_token.get_secret_value(),
                server_context(certificate, key, "SWITCHROOM_SPEECH_TLS") if certificate else None,
            )
            host, port = settings.speech_host, settings.speech_port
            await stack.enter_async_context(serving(server, host, port))
            log.info("speech_started", recognizers=[each.name for each in found])
            await self._stopped.wait()
            log.info("speech_stopping")

    async def _recognizers(self, stack: AsyncExitStack) -> list[Recognizer]:
        found: list[Recognizer] = []
        if (sphinx := find_spec("pocketsphinx")) is not None and sphinx.origin is not None:
            workers = await self._grammar_workers(stack)
            dictionary = read_dictionary(Path(sphinx.origin).parent / _DICTIONARY)
            found.append(GrammarRecognizer(workers, dictionary))
        if (model := self._settings.speech_whisper_model) is not None:
            found.append(WhisperRecognizer(await self._whisper_workers(stack, model)))
        found += await cloud_recognizers(self._settings, stack)
        return found

    async def _grammar_workers(self, stack: AsyncExitStack) -> WorkerPools:
        settings = self._settings
        streams = settings.speech_streams
        memory_bytes = _WORKER_BYTES + streams * _GRAMMAR_BYTES
        live = WorkerPool(WorkerLimits(settings.grammar_processes, streams, memory_bytes))
        return await self._started(stack, live, _WORKER_BYTES + _GRAMMAR_BYTES)

    async def _whisper_workers(self, stack: AsyncExitStack, model: Path) -> WorkerPools:
        settings = self._settings
        processes, streams = settings.speech_whisper_workers, settings.speech_whisper_streams
        limits = WorkerLimits(
            processes, streams, _WHISPER_BYTES, _WHISPER_NICENESS, behind_s=_WHISPER_BEHIND_S
        )
        return await self._started(stack, WorkerPool(limits, model), _WHISPER_BYTES, model)

    async def _started(
        self,
        stack: AsyncExitStack,
        live: WorkerPool,
        recording_bytes: int,
        model: Path | None = None,
    ) -> WorkerPools:
        processes = self._settings.speech_recordings
        limits = WorkerLimits(
            processes, 1, recording_bytes, _RECORDING_NICENESS, _RECORDING_REPLY_S
        )
        pools = WorkerPools(live, WorkerPool(limits, model))
        stack.push_async_callback(pools.close)
        await pools.start()
        return pools


_CLOSE_S = 5.0


class SpeechServer(Struct, frozen=True):
    """The recognizers that are served, and the token that requests need."""

    recognizers: Mapping[str, Recognizer]
    token: str
    tls: SSLContext | None = None
    limits: StreamLimits = StreamLimits()


@asynccontextmanager
async def serving(server: SpeechServer, host: str, port: int) -> AsyncIterator[web.AppRunner]:
    """Serve for as long as the context lasts; raises BindFailed."""
    # Streams end with the server, not after it.
    runner = web.AppRunner(
        _app(server), access_log=None, handler_cancellation=True, shutdown_timeout=0.5
    )
    async with listening(runner, host, port, server.tls):
        yield runner


def _app(server: SpeechServer) -> web.Application:
    app = web.Application()

    async def recognize(request: web.Request) -> web.StreamResponse:
        if not _is_authorized(request, server.token):
            return _problem(401, "a bearer token is needed")
        recognizer = server.recognizers.get(request.match_info["name"])
        if recognizer is None:
            return _problem(404, f"the recognizers are {', '.join(server.recognizers)}")
        # No heartbeat: a dead gateway is found as it sends no audio, and one that sends a recording
        # cannot answer a ping while it waits for the recognizer to read.
        socket = web.WebSocketResponse(max_msg_size=MAX_MESSAGE_BYTES, timeout=_CLOSE_S)
        if not socket.can_prepare(request):
            return _problem(400, "this is the address of a websocket")
        await socket.prepare(request)
        await Stream(socket, recognizer, server.limits).run()
        return socket

    async def list_recognizers(request: web.Request) -> web.Response:
        if not _is_authorized(request, server.token):
            return _problem(401, "a bearer token is needed")
        listed = [
            ListedRecognizer(name, tuple(sorted(each.languages)))
            for name, each in server.recognizers.items()
        ]
        return web.Response(body=json.encode(listed), content_type="application/json")

    async def healthy(_request: web.Request) -> web.Response:
        return web.Response(text="ok")

    app.router.add_get("/recognizers", list_recognizers)
    app.router.add_get("/recognizers/{name}", recognize)
    app.router.add_get("/healthz", healthy)
    app.router.add_get("/readyz", healthy)
    return app


def _is_authorized(request: web.Request, token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    sent = given.encode(errors="surrogateescape")  # a header may have any bytes
    return scheme.lower() == "bearer" and hmac.compare_digest(sent, token.encode())


def _problem(status: int, detail: str) -> web.Response:
    problem = coded_problem(status, code_of_status(status), detail)
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return web.Response(
        status=status,
        body=json.encode(problem),
        content_type="application/problem+json",
        headers=headers,
    )


CLOUD_KEYS = (
    "SWITCHROOM_SPEECH_DEEPGRAM_KEY",
    "SWITCHROOM_SPEECH_OPENAI_KEY",
    "SWITCHROOM_SPEECH_ASSEMBLYAI_KEY",
)


async def cloud_recognizers(settings: Settings, stack: AsyncExitStack) -> list[Recognizer]:
    """Return them; their connections are closed with the stack."""
    found: list[Recognizer] = []
    recordings = settings.speech_recordings
    if (key := settings.speech_deepgram_key) is not None:
        deepgram = DeepgramSettings(
            settings.speech_deepgram_url,
            key.get_secret_value(),
            settings.speech_deepgram_model,
            recordings,
        )
        http = await stack.enter_async_context(ClientSession())
        found.append(DeepgramRecognizer(deepgram, http))
    if (key := settings.speech_openai_key) is not None:
        openai = OpenAiSettings(
            settings.speech_openai_url,
            key.get_secret_value(),
            settings.speech_openai_model,
            settings.speech_openai_file_model,
            recordings,
        )
        http = await stack.enter_async_context(ClientSession())
        found.append(OpenAiRecognizer(openai, http))
    if (key := settings.speech_assemblyai_key) is not None:
        assemblyai = AssemblyAiSettings(
            settings.speech_assemblyai_url,
            key.get_secret_value(),
            settings.speech_assemblyai_model,
            recordings,
        )
        http = await stack.enter_async_context(ClientSession())
        found.append(AssemblyAiRecognizer(assemblyai, http))
    return found

"""One process of recognizers: built from the settings, serving until it is stopped."""

import asyncio
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path

import structlog

from base.tls import server_context
from speech.grammar.dictionary import read_dictionary
from speech.grammar.recognizer import GrammarRecognizer
from speech.recognizer import Recognizer
from speech.server.app import SpeechServer, serving
from speech.server.services import CLOUD_KEYS, cloud_recognizers
from speech.settings import Settings
from speech.whisper.recognizer import WhisperRecognizer
from speech.worker.pool import WorkerPool, WorkerPools
from speech.worker.process import WorkerLimits

_DICTIONARY = "model/en-us/cmudict-en-us.dict"  # in the package of pocketsphinx
# Addresses that worker processes may have. Each decoder of a grammar maps the same model.
_WORKER_BYTES = 1 << 30
_GRAMMAR_BYTES = 32 << 20
_WHISPER_BYTES = 4 << 30
# A grammar has the time of 20 ms, Whisper a second for an utterance, a recording hours.
_WHISPER_NICENESS, _RECORDING_NICENESS = 5, 10
_RECORDING_REPLY_S = 120.0  # nobody waits for it, and others may need the processors
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
        limits = WorkerLimits(processes, streams, _WHISPER_BYTES, _WHISPER_NICENESS)
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

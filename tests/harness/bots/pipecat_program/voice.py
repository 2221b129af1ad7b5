"""A voice for Pipecat that needs no network: hibari, whose model is part of its package."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import numpy as np
from hibari import Hibari
from hibari.voices import voice_path
from pipecat.frames.frames import Frame
from pipecat.services.settings import TTSSettings
from pipecat.services.tts_service import TTSService

NAME = "heart"
RATE_HZ = 24_000
CHUNK_BYTES = RATE_HZ // 10 * 2  # 100 ms


class HibariVoice(TTSService):
    """Speaks English; a text is synthesized as a whole."""

    def __init__(self) -> None:
        settings = TTSSettings(model=None, voice=NAME, language=None)
        super().__init__(push_start_frame=True, push_stop_frames=True, settings=settings)
        model = voice_path(NAME, download_missing=False)
        self._voice = Hibari(NAME, model=model, threads=1)

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame, None]:
        """Yield the audio of a text, at the rate of the pipeline."""
        spoken = await asyncio.to_thread(self._synthesize, text)
        pieces = _pieces(spoken)
        async for frame in self._stream_audio_frames_from_iterator(
            pieces, in_sample_rate=RATE_HZ, context_id=context_id
        ):
            yield frame

    def _synthesize(self, text: str) -> bytes:
        samples = np.clip(self._voice(text, seed=0), -1, 1) * 32_767
        spoken: bytes = samples.astype("<i2").tobytes()
        return spoken


async def _pieces(spoken: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(spoken), CHUNK_BYTES):
        yield spoken[start : start + CHUNK_BYTES]

"""A Pipecat bot that needs no network: greets, understands, repeats, and can be interrupted.

Pipecat is not modified: its own FastAPI transport, Twilio serializer, Silero, smart turn, Whisper
service and aggregators are used. Only the voice and the stand-in for a language model are ours.

python bot.py PORT WHISPER_MODEL    # ws://127.0.0.1:PORT/ws, http://127.0.0.1:PORT/conversations
"""

import dataclasses
import sys

import uvicorn
from conversation import Conversation, Repeater
from fastapi import FastAPI, WebSocket
from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import TTSSpeakFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.runner.utils import parse_telephony_websocket
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transports.websocket.fastapi import (
    FastAPIWebsocketParams,
    FastAPIWebsocketTransport,
)
from pipecat.workers.runner import WorkerRunner
from voice import HibariVoice

GREETING = "Hello, how can I help you?"
WHISPER_HZ = 16_000  # what its model takes; the serializer converts
TELEPHONE_HZ = 8_000


class Bot:
    """The application: one pipeline for each websocket."""

    def __init__(self, whisper_model: str) -> None:
        self._whisper_model = whisper_model
        self._conversations: list[Conversation] = []

    def app(self) -> FastAPI:
        """Return the routes."""
        app = FastAPI()
        app.add_api_websocket_route("/ws", self._converse)
        app.add_api_route("/conversations", self._list)
        return app

    async def _list(self) -> list[dict[str, object]]:
        return [dataclasses.asdict(each) for each in self._conversations]

    async def _converse(self, websocket: WebSocket) -> None:
        await websocket.accept()
        _, call = await parse_telephony_websocket(websocket)
        conversation = Conversation(call["call_id"], call["stream_id"], call["body"])
        self._conversations.append(conversation)
        try:
            await self._run(websocket, conversation)
        finally:
            conversation.is_over = True

    async def _run(self, websocket: WebSocket, conversation: Conversation) -> None:
        # Pipecat would end the call over Twilio's REST API. Here the call goes on with its action.
        hang_up = TwilioFrameSerializer.InputParams(auto_hang_up=False)
        serializer = TwilioFrameSerializer(conversation.stream, conversation.call, params=hang_up)
        transport = FastAPIWebsocketTransport(
            websocket,
            FastAPIWebsocketParams(
                audio_in_enabled=True, audio_out_enabled=True, serializer=serializer
            ),
        )
        aggregators = LLMContextAggregatorPair(
            LLMContext(), user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
        )
        settings = WhisperSTTService.Settings(model=self._whisper_model)
        pipeline = Pipeline(
            [
                transport.input(),
                WhisperSTTService(device="cpu", compute_type="int8", settings=settings),
                aggregators.user(),
                Repeater(conversation),
                HibariVoice(),
                transport.output(),
                aggregators.assistant(),
            ]
        )
        rates = PipelineParams(audio_in_sample_rate=WHISPER_HZ, audio_out_sample_rate=TELEPHONE_HZ)
        worker = PipelineWorker(pipeline, params=rates)

        @transport.event_handler("on_client_connected")
        async def on_connected(*_: object) -> None:
            await worker.queue_frames([TTSSpeakFrame(GREETING)])

        @transport.event_handler("on_client_disconnected")
        async def on_disconnected(*_: object) -> None:
            await worker.cancel()

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        await runner.run()


if __name__ == "__main__":
    _, port, model = sys.argv
    logger.remove()
    logger.add(sys.stderr, level="INFO")
    uvicorn.run(Bot(model).app(), host="127.0.0.1", port=int(port), log_level="warning")

"""The recognizers of this process that are services of others: those whose key is set."""

from contextlib import AsyncExitStack

from aiohttp import ClientSession

from speech.cloud.assemblyai import AssemblyAiRecognizer, AssemblyAiSettings
from speech.cloud.deepgram import DeepgramRecognizer, DeepgramSettings
from speech.cloud.openai import OpenAiRecognizer, OpenAiSettings
from speech.recognizer import Recognizer
from speech.settings import Settings

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

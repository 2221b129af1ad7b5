"""Settings of the speech recognizers: `SWITCHROOM_…` variables, `.env`, or a TOML file."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field

from base.settings import Key, ProgramSettings


class Settings(ProgramSettings):
    """All settings of `switchroom speech`."""

    speech_host: str = Field(
        "127.0.0.1",
        description=(
            "Address of the recognizers, and of `/healthz` and `/readyz`; keep it off public"
            " networks."
        ),
    )
    speech_port: int = Field(8096, ge=0, le=65535, description="Its port.")
    speech_token: Key = Field(
        description="The token that stream gateways send; at least 32 characters."
    )
    speech_tls_cert: Path | None = Field(
        None, description="PEM file: with it the recognizers are at `wss` addresses."
    )
    speech_tls_key: Path | None = Field(
        None, description="PEM file of the key; default: it is in the certificate's file."
    )
    speech_workers: int = Field(
        0,
        ge=0,
        le=256,
        description=(
            "Processes that decode grammars; 0: one for each processor. A caller who speaks takes"
            " 8 % of a processor, one who is silent nothing."
        ),
    )
    speech_streams: int = Field(
        100,
        ge=1,
        le=10_000,
        description="Most streams of each of these processes; further ones are rejected.",
    )
    speech_whisper_model: Path | None = Field(
        None,
        description=(
            "Folder of an English Whisper model in the format of CTranslate2; with it there is the"
            " recognizer `whisper`, which needs the extra `whisper`."
        ),
    )
    speech_whisper_workers: int = Field(
        1, ge=1, le=256, description="Processes of Whisper, each with a model in memory."
    )
    speech_whisper_streams: int = Field(
        4, ge=1, le=1_000, description="Most streams of each of these processes."
    )
    speech_recordings: int = Field(
        1,
        ge=1,
        le=256,
        description=(
            "Recordings that each recognizer transcribes at a time, apart from the live streams:"
            " each in a process of its own, which starts with the first one and has a low"
            " priority."
        ),
    )
    speech_deepgram_key: Key | None = Field(
        None,
        description=(
            "API key of Deepgram; with it there is the recognizer `deepgram`, to which the audio of"
            " callers is sent."
        ),
    )
    speech_deepgram_url: str = Field(
        "wss://api.deepgram.com/v1/listen",
        pattern=r"^wss?://",
        description="Its live API, such as that of another region or of an own installation.",
    )
    speech_deepgram_model: str = Field("nova-3", description="Its model.")
    speech_openai_key: Key | None = Field(
        None,
        description=(
            "API key of OpenAI; with it there is the recognizer `openai`, to which the audio of"
            " callers is sent."
        ),
    )
    speech_openai_url: str = Field(
        "wss://api.openai.com/v1/realtime",
        pattern=r"^wss?://.+/realtime$",
        description=(
            "Its Realtime API, such as that of another region; recordings are sent to"
            " `/audio/transcriptions` beside it."
        ),
    )
    speech_openai_model: str = Field("gpt-live-transcribe", description="Its model for callers.")
    speech_openai_file_model: str = Field("gpt-transcribe", description="Its model for recordings.")
    speech_assemblyai_key: Key | None = Field(
        None,
        description=(
            "API key of AssemblyAI; with it there is the recognizer `assemblyai`, to which the"
            " audio of callers is sent."
        ),
    )
    speech_assemblyai_url: str = Field(
        "wss://streaming.assemblyai.com/v3/ws",
        pattern=r"^wss?://",
        description="Its streaming API, such as that of another region.",
    )
    speech_assemblyai_model: str = Field("universal-3-5-pro", description="Its model.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level of messages in the log."
    )

    @property
    def grammar_processes(self) -> int:
        """How many processes decode grammars."""
        return self.speech_workers or len(os.sched_getaffinity(0))

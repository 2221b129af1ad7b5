"""Codes of audio that cannot be played."""

from wire.error_codes.error_code import CodeGroup, ErrorCode, Place

_AUDIO = (Place.MEDIA,)

MEDIA = CodeGroup(
    "Audio",
    (
        ErrorCode(
            "http_status",
            "Not a successful status",
            "The server of the audio responded with an error.",
            "The status is in the engine's log.",
            "Open the address yourself.",
            (),
            _AUDIO,
        ),
        ErrorCode(
            "unreachable",
            "Server not reached",
            "The server of the audio, or the bot of a stream, was not reached.",
            "It does not run, its name is wrong, a firewall drops the connection, or its "
            "certificate is not valid.",
            "Open the address from the engine's host, a bot's from that of the gateway.",
            (),
            (*_AUDIO, Place.STREAM),
        ),
        ErrorCode(
            "not_audio",
            "Not audio",
            "The file is in no format that can be played.",
            "A web page, a video, or a list of addresses.",
            "WAV, MP3, Ogg and FLAC are fine.",
            (),
            _AUDIO,
        ),
        ErrorCode(
            "unreadable",
            "File not readable",
            "The file has a known format, and cannot be decoded.",
            "It is cut off or damaged.",
            "Write it again, for example with `ffmpeg`.",
            (),
            _AUDIO,
        ),
        ErrorCode(
            "too_long",
            "Too long",
            "Audio or a text is longer than what is accepted there.",
            "The limit is in `detail`.",
            "Shorten it.",
            (400,),
            (
                Place.MEDIA,
                Place.REST,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "unknown_language",
            "No voice",
            "There is no voice of this language.",
            "A language that is not installed.",
            "Operator: `apt-get install espeak-ng` on the hosts of the engines; "
            "`switchroom doctor` checks it.",
            (),
            _AUDIO,
        ),
        ErrorCode(
            "speech_failed",
            "Speech failed",
            "The text cannot be spoken.",
            "SSML that is not well formed, marks that are not known, or a fault of the synthesis.",
            "Correct the SSML; the engine's log says more.",
            (),
            _AUDIO,
        ),
        ErrorCode(
            "not_stored",
            "Audio not stored",
            "The prepared audio could not be stored.",
            "The disk of the engine is full, or its folder cannot be written.",
            "Operator: look at `SWITCHROOM_MEDIA_DIR`.",
            (),
            _AUDIO,
        ),
        ErrorCode(
            "not_played",
            "Not played",
            "The PBX did not play the audio.",
            "It could not fetch it from the engine, or has no format for it.",
            "Open the engine's address (`SWITCHROOM_RPC_URL`, `media_url`) from the node.",
            (),
            _AUDIO,
        ),
        ErrorCode(
            "cut_off",
            "Cut off",
            "The PBX did not end the audio in time, so the engine stopped it.",
            "The PBX was frozen or overloaded; the caller may have missed the rest.",
            "Operator: look at the load of the node, and at the log of Asterisk.",
            (),
            _AUDIO,
        ),
    ),
)

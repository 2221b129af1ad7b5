"""Codes of the transcripts of recordings."""

from wire.error_codes.error_code import CodeGroup, ErrorCode, Place

TRANSCRIPTS = CodeGroup(
    "Transcripts",
    (
        ErrorCode(
            "not_transcribed",
            "Not transcribed",
            "This recording has no transcript, and none is being made.",
            "The account had no transcripts when its call ended, the call is live, or there is no"
            " such recording.",
            "Request it with a POST to the same address, once the account has `transcripts`.",
            (404,),
            (Place.REST,),
            "recordings.md#transcripts",
        ),
        ErrorCode(
            "transcripts_off",
            "The account has no transcripts",
            "Recordings of this account are not transcribed.",
            "Its setting `transcripts` is null.",
            "Choose a recognizer: `switchroom account change --transcripts whisper`.",
            (409,),
            (Place.REST,),
            "recordings.md#transcripts",
        ),
        ErrorCode(
            "no_transcripts",
            "No transcripts here",
            "This installation transcribes no recordings.",
            "`SWITCHROOM_TRANSCRIPT_RECOGNIZERS` of the REST layer is not set.",
            "Ask the operator to run `switchroom speech` for it.",
            (409,),
            (Place.REST,),
            "recordings.md#transcripts",
        ),
    ),
)

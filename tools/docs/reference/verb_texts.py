"""What the pages of verbs say beside their shapes: behaviour, examples, and rejected input."""

from collections.abc import Mapping
from typing import Any, NamedTuple

MENU = "https://example.com/menu"
WELCOME = "https://example.com/welcome.mp3"


class VerbText(NamedTuple):
    """The prose of a verb's page; `rejected` are trees with an error that the decoder explains."""

    does: str
    after: str
    result: str  # page of the body that a webhook in `action` gets; empty: it gets none
    example: Mapping[str, Any]
    full: Mapping[str, Any]  # uses each field of `data`
    rejected: tuple[Mapping[str, Any], ...]
    more: str = ""


_BYE = {"type": "hangup"}
_SORRY = {"type": "say", "data": {"text": "Sorry, that did not work."}, "action": _BYE}
VERBS: Mapping[str, VerbText] = {
    "play": VerbText(
        "Plays audio to the leg: one file or several in sequence, all of it `loop` times. Common"
        " formats such as MP3, WAV and OGG work; each file is fetched once and cached.",
        "When the audio has ended, or after `timeout`, `action` runs.",
        "action",
        {"type": "play", "data": {"audioUrl": WELCOME}, "action": MENU},
        {
            "type": "play",
            "data": {"audioUrl": [WELCOME, "https://example.com/hours.mp3"], "loop": 2},
            "timeout": 30,
            "onError": {"type": "say", "data": {"text": "Welcome."}, "action": MENU},
            "action": MENU,
        },
        (
            {"type": "play", "data": {}},
            {"type": "play", "data": {"audioUrl": "http://example.com/a.mp3"}},
            {"type": "play", "data": {"audioUrl": WELCOME, "loop": 0}},
        ),
    ),
    "say": VerbText(
        "Speaks a text in a `language`, with the best voice for it unless `voice` names one. With"
        " `ssml: true` the text is SSML. Which there are: [speech](speech.md).",
        "When the text has been spoken, or after `timeout`, `action` runs.",
        "action",
        {"type": "say", "data": {"text": "Thank you. Goodbye."}, "action": {"type": "hangup"}},
        {
            "type": "say",
            "data": {
                "text": "<speak>Your code is <break time='300ms'/> 4 7 1 1.</speak>",
                "ssml": True, "language": "en", "voice": "espeak",
            },
            "timeout": 20,
            "onError": _SORRY,
            "action": MENU,
        },
        (
            {"type": "say", "data": {"text": ""}},
            {"type": "say", "data": {"text": "Hello", "language": "english"}},
        ),
    ),
    "gather": VerbText(
        "Collects digits, or understands speech, during a prompt and after it. Without a prompt it"
        " waits at once. It ends at `maxDigits` digits, at the `terminator`, when no further digit"
        " comes within `digitTimeout`, when an utterance ends, when there is neither digit nor"
        " speech within `timeout`, or when the leg hangs up; after an hour at the latest. The rules"
        " of keys in detail: [digits](digits.md); of speech: [spoken input](spoken-input.md).",
        "An address in `action` gets the digits and the reason, and responds with the next verb; a"
        " verb there runs without a request. If no digit is pressed, or the request fails,"
        " `fallback` runs instead, if there is one.",
        "gather",
        {
            "type": "gather",
            "data": {"text": "Press 1 for sales, 2 for support.", "maxDigits": 1},
            "action": MENU,
        },
        {
            "type": "gather",
            "data": {
                "audioUrl": "https://example.com/enter-pin.mp3", "language": "en", "maxDigits": 4,
                "timeout": 8000, "digitTimeout": 3000, "terminator": "#",
                "channelId": "3-pbx1-0195c2f0a1b24c.l0", "typeAhead": False, "sensitive": True,
                "fallback": {"type": "say", "data": {"text": "Goodbye."}, "action": _BYE},
            },
            "timeout": 60,
            "onError": {
                "type": "gather",
                "data": {
                    "text": "Sales, or support?", "voice": "heart", "input": ["speech", "digits"],
                    "recognizer": "grammar",
                    "hints": ["sales", {"text": "Kjell", "soundsLike": "shell"}, "$digits"],
                    "endpointing": {"silenceMs": 500, "maxMs": 10000},
                    "minConfidence": 0.6, "bargeIn": "flush",
                },
                "action": MENU,
            },
            "action": "https://example.com/pin",
        },
        (
            {"type": "gather", "data": {"maxDigits": 100}},
            {"type": "gather", "data": {"text": "Hi", "audioUrl": WELCOME}},
            {"type": "gather", "data": {"sensitive": True}, "action": _BYE},
            {"type": "gather", "data": {"hints": ["sales", "support"]}},
        ),
        more="`timeout` in `data` is in milliseconds and limits the wait for the first digit;"
        " `timeout` beside `data` is in seconds and ends the whole gather.",
    ),
    "record": VerbText(
        "Records a message of the caller, such as a voicemail, after a prompt and a tone. It ends"
        " at the `terminator`, after `silence`, which is not part of it, at `maxLength`, or when"
        " the caller hangs up. The start of the recording drops digits that were typed ahead. To"
        " record a whole call, see [recordings](../../recordings.md).",
        "When the recording is archived, an address in `action` gets its URL and length, also after"
        " a hangup; a verb there runs at that moment.",
        "record",
        {
            "type": "record",
            "data": {"text": "Please leave a message after the tone.", "maxLength": 60},
            "action": "https://example.com/message",
        },
        {
            "type": "record",
            "data": {
                "text": "Please leave a message.", "voice": "heart", "language": "en", "beep": True,
                "maxLength": 60, "silence": 4, "terminator": "#",
            },
            "timeout": 20,
            "onError": {"type": "record", "data": {"audioUrl": WELCOME}, "action": MENU},
            "action": "https://example.com/message",
        },
        (
            {"type": "record", "data": {"maxLength": 7200}},
            {"type": "record", "data": {"terminator": "##"}},
        ),
        more="`timeout` beside `data` limits the prompt, not the recording.",
    ),
    "pause": VerbText(
        "Waits in silence. Digits that are pressed meanwhile are kept for the next `gather`.",
        "When the time has passed, `action` runs.",
        "action",
        {"type": "pause", "data": {"length": 1.5}, "action": MENU},
        {"type": "pause", "data": {"length": 2}, "timeout": 10, "action": MENU},
        ({"type": "pause", "data": {}}, {"type": "pause", "data": {"length": 0}}),
    ),
    "stream": VerbText(
        "Connects the caller with a bot: a server that gets the caller's audio over a websocket,"
        " and sends what the caller hears. `twilio` is the protocol of Twilio Media Streams, so"
        " code written for it works unchanged. The caller stays when the engine or the gateway"
        " ends: the bot's connection continues, or is made again with how much was heard. A bot"
        " may run actions in the call, such as a transfer to a person.",
        "When the bot closes its connection, a request stops the stream, or `maxDuration` has"
        " passed, `action` runs. When the bot is lost, `onLost` decides. Digits go to the bot."
        " After a fork, `action` runs at once: an address in it gets the event `stream`, and no"
        " result."
        " A fork lasts as long as the call, `maxDuration` or its bot; a call has at most four.",
        "stream",
        {"type": "stream", "data": {"url": "wss://bot.example.com/call"}, "action": MENU},
        {
            "type": "stream",
            "data": {
                "url": "wss://bot.example.com/call", "protocol": "native", "rate": 16000,
                "track": "both", "parameters": {"language": "en"}, "bargeIn": "pause",
                "maxDuration": 1800, "onLost": "continue", "fork": False,
            },
            "timeout": 1800,
            "action": MENU,
        },
        (
            {"type": "stream", "data": {}},
            {"type": "stream", "data": {"url": "https://bot.example.com/call"}},
            {"type": "stream", "data": {"url": "ws://bot.example.com/call"}},
            {"type": "stream", "data": {"url": "wss://bot.example.com/call", "rate": 16000}},
        ),
    ),
    "dial": VerbText(
        "Calls a party and connects it with the leg. `number` is a number, `agent:1001` or"
        " `sip:user@host`, or a list that rings all at once: the first to answer wins, and the"
        ' other phones get the cause "answered elsewhere" (26), so they show no missed call.'
        " Instead of `number`, `agent_id` names an agent, or `flowId` a stored flow. The account's"
        " [dial policy](../../dnc.md) applies to each party.\n\nThe answering party is connected"
        " after machine detection, the `whisper` and the key of `confirm`, if these are requested:"
        " [answering](../../answering.md). `sip:` addresses work only at hosts that the operator"
        " allows.",
        "When the leg of the dialed party has ended, for any reason, `action` runs; an address"
        " there gets the result in `dial`. `timeout` limits how long the parties ring; `timeLimit`"
        " ends this conversation only, not a conference or transfer that follows from it.",
        "dial",
        {"type": "dial", "data": {"number": "+4722222222"}, "timeout": 25, "action": MENU},
        {
            "type": "dial",
            "data": {
                "number": ["agent:1001", "+4722222222"], "callerId": "+4721930000",
                "agent_id": "1001", "reference_id": "order-4711", "timeLimit": 3600,
                "moh": {"enable": True}, "earlyMedia": False,
                "whisper": {"type": "say", "data": {"text": "A call from the web page."}},
                "confirm": {"text": "Press 1 to accept.", "digit": "1", "timeout": 10000},
                "machineDetection": {"onMachine": "hangup", "timeout": 4000},
            },
            "timeout": 25,
            "moh": {"enable": True},
            "action": MENU,
        },
        (
            {"type": "dial", "data": {}},
            {"type": "dial", "data": {"number": "Ada"}},
            {"type": "dial", "data": {"number": "+4722222222", "flowId": "welcome"}},
            {"type": "dial", "data": {"number": "sip:ada@example.com"}},
            {"type": "dial", "data": {"number": "+4722222222", "whisper": _BYE}},
        ),
        more="`agent_id` and `reference_id` are part of every event of the call from then on, and"
        " of its record. Beside a number or a flow, `agent_id` may be any text. `moh` may stand in"
        " `data` or beside it.",
    ),
    "flow": VerbText(
        "Runs a stored [flow](../../flows.md) of the account, in the version that is published. Its"
        " texts may contain templates such as `{{contact.fName}}`.",
        "When the flow has ended, `action` runs. `timeout` has no effect.",
        "action",
        {"type": "flow", "data": {"flowId": "welcome"}},
        {
            "type": "flow",
            "data": {"flowId": "welcome", "agent_id": "1001", "reference_id": "order-4711"},
            "timeout": 60,
            "action": _BYE,
        },
        (
            {"type": "flow", "data": {"flowId": "a name"}},
            {"type": "flow", "data": {}, "action": _BYE},
        ),
    ),
    "redirect": VerbText(
        "Asks another webhook for the tree that takes the place of this one. An address in `action`"
        " does the same; as a verb it can stand where a verb is required, such as in `fallback`, in"
        " a [flow](../../flows.md#nodes) or in the action of a bot, and has a `fallback` itself.",
        "The address gets [this request](../webhooks/action.md), with the event `redirect`, signed"
        " and repeated as others are, and responds with the next verb; `action` and `timeout` have"
        " no effect. When the tree that it returns has ended, the call ends; in a flow, the node's"
        " `next` follows. If the request fails, `fallback` runs; without it a flow goes on at"
        " `next`, and other calls are hung up. Each redirect counts as a verb: a call that is"
        " redirected without end is hung up after 1,000 verbs in five minutes (`too_many_verbs`).",
        "",
        {"type": "redirect", "data": {"url": MENU}},
        {
            "type": "redirect",
            "data": {
                "url": "https://example.com/orders",
                "fallback": {"type": "say", "data": {"text": "Please call again later."}},
            },
            "timeout": 10,
            "action": _BYE,
        },
        (
            {"type": "redirect", "data": {}},
            {"type": "redirect", "data": {"url": "http://example.com/menu"}},
            {"type": "redirect", "data": {"url": MENU, "method": "GET"}},
        ),
    ),
    "hangup": VerbText(
        "Ends the call. A caller that is not answered yet is rejected, with `reason`; on others"
        " `reason` has no effect.",
        "Nothing runs: the call is over, and `action` and `timeout` have no effect.",
        "",
        {"type": "hangup"},
        {"type": "hangup", "data": {"reason": "busy"}, "timeout": 1, "action": MENU},
        (
            {"type": "hangup", "data": {"reason": "tired"}},
            {"type": "hangup", "reason": "busy"},
        ),
    ),
}  # fmt: skip

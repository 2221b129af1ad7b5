"""Makes a dictionary for the webhook log: texts that many attempts contain, the rarest first.

`python -m tools.webhook_dictionary NUMBER` writes
engine/webhooks/log/dictionary-NUMBER.bin. A dictionary never changes once it is released: make one
with the next number.
"""

import sys

import msgspec

from engine.webhooks.log.logged_attempt import DICTIONARIES

RESPONSES = (
    (
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad"
        " Gateway</h1></center><hr><center>nginx</center></body></html>"
    ),
    '{"type":"https://example.com/problem","title":"Not Found","status":404,"detail":"',
    'WWW-AuthenticateBasic realm="Retry-AfterLocationTraceparentX-Request-IdContent-Encoding',
    (
        "invalid_actiontoo_largeredirectrefused_addressconnecttimeoutnot_jsonstatus_404status_503"
        "status_500"
    ),
    '{"type":"record","data":{"maxLength":60,"terminator":"#","beep":true},"action":"https://',
    '{"type":"dial","data":{"callerId":"+","timeout":30000,"agent_id":""},"number":["+"]}',
    '{"type":"play","data":{"audioUrl":["https://"],"loop":1},"next":{"type":"hangup"}}',
    (
        '{"type":"say","data":{"text":"Welcome. Please enter","voice":"","language":"en"},'
        '"next":{"type":"gather","data":{"text":"Press 1 for sales, 2 for support.","maxDigits":1,'
        '"timeout":5000,"digitTimeout":3000,"terminator":"#"},"action":"https://'
    ),
)
REQUESTS = (
    '"transfer","mode":"warm","blind","sessionId":"conference-member","sessionState":"',
    '"agent_id":"","reference_id":"","endedByChannelId":"',
    '"diversion":[{"number":"+","reason":"unconditional"}],"privacy":true,"mediaFault":{"source":"',
    '"sipCode":486,"endedBy":"callee","api","reason":"busy","no-answer","failed","canceled"',
    '"recordingUrl":"https://","recordingPurpose":"voicemail","call","duration":0,"durationMs":',
    '"dial":{"status":"completed","cause":16,"duration":,"number":"+","answeredBy":"human"}',
    (
        '"customData":{"customer":"","crm":"","campaign":"","orderId":"","contact":{"fName":"",'
        '"lName":"","email":"","phone":"+"}}'
    ),
    (
        '{"callId":"-pbx1-","dtmf":"1","to":{"channelId":"-pbx1-.l0"},"reason":"max-digits",'
        '"terminator","timeout","digit-timeout","event":"gather"}'
    ),
    (
        '{"callId":"-pbx1-","event":"start","from":"+","to":"+","direction":"inbound",'
        '"accountId":"","channelId":"-pbx1-.l0"}'
    ),
    '{"id":"-pbx1-.e","event":"gathered","verb-started","ringing","initiated","recorded"',
    (
        '{"id":"-pbx1-.e0","event":"answered","sequenceNumber":1,"timestamp":17,"callId":"-pbx1-",'
        '"accountId":"","callStatus":"in-progress","direction":"outbound","from":"+","to":"+",'
        '"channelId":"-pbx1-.l0","legStatus":"in-progress","party":"agent:","version":1}'
    ),
    (
        '{"id":"-pbx1-.e4","event":"completed","sequenceNumber":4,"timestamp":17,"callId":"-pbx1-",'
        '"accountId":"","callStatus":"completed","direction":"inbound","from":"+","to":"+",'
        '"duration":,"hangupCause":16,"endedBy":"caller","version":1}'
    ),
)
HEAD = (
    "callback", "request", "gather", "action", "-pbx1-01J", ".r0", ".r1", ".e0", 1, "PUT", "GET",
    "POST", "https://example.com/voice/",
    {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Idempotency-Key": "-pbx1-01J",
        "Authorization": "***",
        "traceparent": "00-",
        "webhook-id": "-pbx1-01J",
        "webhook-timestamp": "17",
        "webhook-signature": "***",
    },
)  # fmt: skip
RESPONSE_HEADERS = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": "2",
    "Date": "Thu, 26 Nov 2026 09:00:00 GMT",
    "Server": "nginx",
}
TAIL = (200, "", 12, RESPONSE_HEADERS, b"{}", False, False, True, "", "")
MAX_BYTES = 3_800  # within a window of 4 KB


def dictionary() -> bytes:
    """Return what attempts have in common; the end is referred to shortest."""
    texts = "\n".join((*RESPONSES, *REQUESTS)).encode()
    joined = texts + msgspec.msgpack.encode(HEAD) + msgspec.msgpack.encode(TAIL)
    if len(joined) > MAX_BYTES:
        raise ValueError(f"{len(joined)} bytes are more than {MAX_BYTES}")
    return joined


def main() -> None:
    """Write the dictionary of the given number."""
    (DICTIONARIES / f"dictionary-{int(sys.argv[1])}.bin").write_bytes(dictionary())


if __name__ == "__main__":
    main()

"""Patterns of input values, each with a description for error messages.

Each ends in END: Python's `$` alone would accept a trailing line feed, for example in a SIP header.
"""

END = r"$(?!\n)"  # \Z in the syntax of JSON schemas (ECMA 262)

# RFC 1123, section 2.1; other letters are written in Punycode (xn--...).
_LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_\-]{0,61}[A-Za-z0-9_])?"
_HOST = rf"({_LABEL}(\.{_LABEL})*\.?|\[[0-9A-Fa-f:.]{{2,45}}\])(:[0-9]{{1,5}})?"
URL = rf"^https?://{_HOST}([/?#][^\s\x00-\x1f\x7f\\]*)?" + END
STREAM_URL = URL.replace("https?", "wss?", 1)
NUMBER = (
    r"^(\+?[0-9*#]{2,20}"
    r"|sips?:[A-Za-z0-9+*#_.\-]{1,64}@[A-Za-z0-9.\-]{1,253}(:[0-9]{1,5})?)" + END
)
PARTY = NUMBER.replace("^(", "^(agent:[A-Za-z0-9_\\-]{1,64}|")
NAME = r"^[A-Za-z0-9_\-]{1,64}" + END
CALLER_ID = r"^\+?[0-9]{2,20}" + END
PREFIX = r"^(\+[1-9][0-9]{0,14}|sips?:)" + END
FULL_NUMBER = r"^\+[1-9][0-9]{1,14}" + END  # ITU-T E.164
REGION = r"^([A-Z]{2})?" + END  # ISO 3166-1
CALLING_CODE = r"^([1-9][0-9]{0,2})?" + END
ENDPOINT = r"^PJSIP/[A-Za-z0-9_.\-]{1,64}" + END
DIAL_TARGET = PARTY.replace("^(", r"^(PJSIP/[A-Za-z0-9_.\-]{1,64}|", 1)
LANGUAGE = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*" + END
TERMINATOR = r"^[0-9A-D*#]?" + END
DTMF_KEY = r"^[0-9A-D*#]" + END

ON_MACHINE = URL.replace("^", "^(?:continue|hangup|", 1).removesuffix(END) + ")" + END

REQUEST_ID = r"^[A-Za-z0-9_]{8,64}" + END
HEX_ID = r"^[0-9A-Fa-f]{24}" + END
_GRPC = rf"grpcs?://{_HOST}/?"
_SHARD = r"[a-z0-9]{1,16}/[0-9]{1,3}"
SHARD = f"^{_SHARD}" + END
DEAD_LETTER_ID = rf"^{_SHARD}\.[0-9]{{1,20}}-[0-9]{{1,20}}" + END
STATUS_TARGET = rf"^(auto-set|[0-9A-Fa-f]{{24}}|{_GRPC})" + END
ACCOUNT_TARGET = URL.replace("^", f"^([0-9A-Fa-f]{{24}}|{_GRPC}|", 1).removesuffix(END) + ")" + END
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]{0,31}" + END
REFERENCE = r"^[A-Za-z_][A-Za-z0-9_\-]{0,63}(\.[A-Za-z0-9_\-]{1,64}){0,5}" + END
HEADER = r"^[A-Za-z0-9!#$%&'*+.^_`|~\-]{1,64}" + END  # RFC 9110, section 5.1
HEADER_TEXT = r"^[^\x00-\x1f\x7f]*" + END
LINE = r"^[^\x00-\x1f\x7f]+" + END
LINES = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+" + END
TEXT_LINE = r"^[^\x00-\x1f\x7f]*" + END
TEXT_LINES = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*" + END
TITLE = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*" + END
POINTER = r"^(/([^/~]|~[01])*)*" + END  # RFC 6901
EMAIL = r"^[^\s@:\x00-\x1f\x7f]{1,64}@[^\s@\x00-\x1f\x7f]{1,189}" + END
TEMPLATE_NAME = r"^[a-z0-9_]+" + END
TEMPLATE_LANGUAGE = r"^[a-z]{2,3}([_-][A-Za-z]{2,3})?" + END
TEMPLATE_SUBCATEGORY = r"^[A-Za-z0-9_]{1,64}" + END
TAG = r"^[^ \x00-\x1f\x7f,]([^\x00-\x1f\x7f,]{0,62}[^ \x00-\x1f\x7f,])?" + END
BRANCH = r"^[0-9A-D*#]{1,16}" + END
PLAIN = r"[^\x00-\x1f\x7f%*?\\]"
PLAIN_TEXT = f"^{PLAIN}+" + END
COUNTRY = r"^[A-Z]{2}" + END  # ISO 3166-1
PASSWORD = r"^[!-~]+" + END
ENCODING = r"^[A-Za-z0-9_.:\-]+" + END

RECOGNIZER = r"^[a-z][a-z0-9\-]{0,31}" + END

_CALLS_CURSOR = r"calls:[0-9]{0,20}(/[0-9]{1,7}(/[A-Za-z0-9_\-]{1,90})+)?"
_OTHER_CURSOR = r"(events|pending|dead_letters|attempts):[0-9\-]{0,41}"
ERASURE_CURSOR = f"^({_CALLS_CURSOR}|{_OTHER_CURSOR})?" + END
ENTRY_ID = r"^[0-9]{1,20}-[0-9]{1,20}" + END
EVENT_ID = r"^([a-z0-9]{1,16}/[0-9]{1,3})\.(lost\.)?([0-9]{1,20}-[0-9]{1,20})" + END

PATTERNS = {
    URL: "an https:// address",
    STREAM_URL: "a wss:// address",
    NUMBER: "a number such as +4721930000, or sip:user@host",
    PARTY: "a number such as +4721930000, agent:1001, or sip:user@host",
    REQUEST_ID: "8 to 64 letters, digits or _",
    DEAD_LETTER_ID: "the id of a dead letter, such as pbx1/3.1795262400000-0",
    STATUS_TARGET: "auto-set, grpc://host, grpcs://host:port or the id of an API request: 24 digits"
    " of 0-9 a-f",
    ACCOUNT_TARGET: "an https:// address, grpc://host, grpcs://host:port or the id of an API"
    " request: 24 digits of 0-9 a-f",
    HEX_ID: "the id of an API request: 24 digits of 0-9 a-f",
    HEADER: "the name of a header",
    HEADER_TEXT: "a header's text, without control characters",
    LINE: "a text on one line, without control characters",
    LINES: "a text without control characters",
    TEXT_LINE: "a text on one line, without control characters",
    TEXT_LINES: "a text without control characters",
    TITLE: "a name on one line, without control characters",
    POINTER: "a JSON pointer such as /customer/name",
    VARIABLE: "1 to 32 letters, digits or _, not a digit first",
    REFERENCE: "the name of a value, such as contact.fName or answers.lookup.tier",
    PLAIN_TEXT: "a text without control characters, %, *, ? and \\",
    COUNTRY: "a country of two capital letters, such as NO",
    PASSWORD: "visible ASCII characters without spaces",
    ENCODING: "the name of an encoding, such as utf-8",
    TEMPLATE_NAME: "a name of a-z, 0-9 and _",
    TEMPLATE_LANGUAGE: "a language such as en_US",
    TEMPLATE_SUBCATEGORY: "1 to 64 letters, digits or _",
    TAG: "1 to 64 letters without a comma",
    EMAIL: "an e-mail address such as ann@example.com",
    BRANCH: "1 to 16 keys of 0-9 A-D * #",
    NAME: "1 to 64 letters, digits, _ or -",
    CALLER_ID: "a number such as +4721930000",
    PREFIX: "a prefix such as +47, or sip:",
    FULL_NUMBER: "a number with its country, such as +4721930000",
    REGION: "a country of two capital letters, such as NO",
    CALLING_CODE: "a country's calling code such as 47",
    ENDPOINT: "an endpoint such as PJSIP/1001",
    DIAL_TARGET: "a number such as +4721930000, agent:1001, PJSIP/1001, or sip:user@host",
    LANGUAGE: "a language tag such as en or hi-IN",
    DTMF_KEY: "one key of 0-9 A-D * #",
    ON_MACHINE: "continue, hangup, an action or an https:// address",
    SHARD: "a node and a slot, such as pbx1/3",
    EVENT_ID: "the id that came with an event",
    ERASURE_CURSOR: "the nextCursor of the previous request",
    ENTRY_ID: "a number, a hyphen and a number",
    RECOGNIZER: "the name of a recognizer, such as grammar",
    TERMINATOR: 'one key of 0-9 A-D * #, or "" for none',
}

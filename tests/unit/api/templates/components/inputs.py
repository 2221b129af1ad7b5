"""Components of templates for tests, and the errors of their validation."""

from typing import Any

from api.templates.components.check import check
from api.templates.components.model import Format
from api.templates.components.parser import Shortcuts, parse_components
from wire.decoding.errors import BadInput

BODY = {"type": "BODY", "text": "Hello."}
HANDLE = {"example": {"header_handle": ["4::x"]}}
OTP = {"type": "BUTTONS", "buttons": [{"type": "OTP", "otp_type": "COPY_CODE"}]}
APP = {"package_name": "com.example", "signature_hash": "K8a"}


def error_of(
    *components: Any, style: Format = "POSITIONAL", category: str = "UTILITY"
) -> tuple[str, str] | None:
    """Validate components; return the error's path and code."""
    try:
        check(parse_components(components, Shortcuts(), style), category, style)
    except BadInput as found:
        return found.path, found.code
    return None


def body(text: str, *examples: str) -> dict[str, Any]:
    """Return a body with examples."""
    return {"type": "BODY", "text": text, "example": {"body_text": [list(examples)]}}


def named(text: str, *names: str) -> dict[str, Any]:
    """Return a body with named examples."""
    examples = [{"param_name": name, "example": "x"} for name in names]
    return {"type": "BODY", "text": text, "example": {"body_text_named_params": examples}}


def header(**fields: Any) -> dict[str, Any]:
    """Return a header."""
    return {"type": "HEADER", **fields}


def buttons(*given: dict[str, Any]) -> dict[str, Any]:
    """Return buttons."""
    return {"type": "BUTTONS", "buttons": list(given)}


def reply(text: str) -> dict[str, Any]:
    """Return a quick reply."""
    return {"type": "QUICK_REPLY", "text": text}


def url(address: str, *examples: str) -> dict[str, Any]:
    """Return a URL button."""
    more = {"example": list(examples)} if examples else {}
    return {"type": "URL", "text": "Open", "url": address, **more}


CALL = {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "+4721930000"}
COPY = {"type": "COPY_CODE", "example": "SAVE20"}
FORM = {"type": "FLOW", "text": "Book", "flow_id": "1"}

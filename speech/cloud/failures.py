"""Failures of requests to a service, as the gateway learns them."""

from http import HTTPStatus

from base.http_errors import failure_word
from speech.recognizer import RecognitionFailed
from wire.streams.recognizer import RecognizerErrorCode

_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


def rejected(service: str, status: int) -> RecognitionFailed:
    """Return the failure of a request that a service answered with an error's status."""
    code: RecognizerErrorCode = "overloaded" if status in _BUSY else "failed"
    return RecognitionFailed(code, f"{service}: HTTP {status}")


def unanswered(service: str, error: Exception) -> RecognitionFailed:
    """Return the failure of a request without an answer."""
    return RecognitionFailed("failed", f"{service}: {failure_word(error)}")

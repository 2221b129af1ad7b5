"""When a request is repeated: the server is busy, did not respond, or the token has expired."""

from switchroom_sdk.client.request import Request
from switchroom_sdk.errors import ApiError, ConnectionFailed, SwitchroomError

MAX_ATTEMPTS = 3
_FIRST_DELAY_S, _MAX_DELAY_S = 0.5, 10.0
_UNAUTHORIZED, _TOO_MANY = 401, 429
_TRANSIENT = frozenset({502, 503, 504})


class Retry:
    """The attempts of one request; `has_token`: with an access token, which expires."""

    def __init__(self, request: Request, *, has_token: bool) -> None:
        self._request = request
        self._may_renew_token = has_token
        self._attempt = 1
        self.needs_token = False

    def delay_after(self, error: SwitchroomError) -> float:
        """Return the seconds until the next attempt; raises the error if there is none."""
        self.needs_token = False
        match error:
            case ApiError(status=status) if status == _UNAUTHORIZED and self._may_renew_token:
                self._may_renew_token, self.needs_token = False, True
                return 0.0
            case ApiError(status=status) if status == _TOO_MANY:
                return self._next(error, error.retry_after_s)
            case ApiError(status=status) if status in _TRANSIENT and self._request.is_repeatable:
                return self._next(error, error.retry_after_s)
            case ConnectionFailed() if self._request.is_repeatable or not error.is_sent:
                return self._next(error, None)
            case _:
                raise error

    def _next(self, error: SwitchroomError, requested_s: float | None) -> float:
        delay_s = _FIRST_DELAY_S * 2 ** (self._attempt - 1) if requested_s is None else requested_s
        if self._attempt >= MAX_ATTEMPTS or delay_s > _MAX_DELAY_S:
            raise error
        self._attempt += 1
        return delay_s

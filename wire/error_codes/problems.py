"""Problems (RFC 9457) of error codes: title and type come from the table."""

from http import HTTPStatus

from wire.docs_address import error_path
from wire.error_codes.catalogue import find_code
from wire.rpc import FieldError, Problem


def coded_problem(
    status: int, code: str, detail: str = "", errors: tuple[FieldError, ...] = ()
) -> Problem:
    """Return a problem; a code of a later version, which has no page here, has no type."""
    found = find_code(code)
    if found is None:
        return Problem(_phrase(status), status, code, detail, errors)
    return Problem(found.title, status, code, detail, errors, error_path(found.code))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"

"""TLS contexts from files in PEM, with errors that name the setting and the file."""

import ssl
from pathlib import Path


class TlsFileError(Exception):
    """A certificate, a key or a CA file cannot be used."""


def client_context(ca: Path | None, setting: str = "SWITCHROOM_TLS_CA") -> ssl.SSLContext:
    """Return a context that verifies servers by a CA file; None: by the system's."""
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # ssl.SSLError is one
        raise TlsFileError(f"{setting}: {ca}: {_reason(error)}") from error


def server_context(
    certificate: Path, key: Path | None, setting: str = "SWITCHROOM_RPC_TLS"
) -> ssl.SSLContext:
    """Return a server's context; without a key file, the key is in the certificate's file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        files = f"{certificate} and {key}" if key else str(certificate)
        raise TlsFileError(f"{setting}_CERT, _KEY: {files}: {_reason(error)}") from error
    return context


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"no usable PEM ({error.reason or error})"
    return (error.strerror or str(error)).lower()

"""Errors of a stream gateway's client."""


class GatewayUnavailable(Exception):
    """The gateway gave no response, is full, or shuts down: another one may take the stream."""


class StreamRejected(Exception):
    """The gateway cannot set the stream up, and no other one could."""

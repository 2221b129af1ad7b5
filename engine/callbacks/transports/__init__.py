"""How status callbacks travel: API requests over HTTP, and gRPC."""

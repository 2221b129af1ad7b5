"""Transports of status callbacks: HTTPS, gRPC and stored API requests."""

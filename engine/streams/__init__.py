"""The clients of the stream gateways beside the PBX nodes."""

"""`switchroom new`: a sample application with the SDK, ready to run."""

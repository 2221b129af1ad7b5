"""Generated from callback.proto by `make proto`; do not edit."""

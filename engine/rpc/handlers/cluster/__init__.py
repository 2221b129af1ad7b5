"""RPC operations that show operators the installation: engines, the store, the doctor's checks."""

"""Runs many calls of mixed kinds for minutes and compares their records with the phones' logs."""

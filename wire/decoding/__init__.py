"""Decodes input to shapes."""

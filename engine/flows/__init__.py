"""Flows as documents: read, filled in node by node, and checked as graphs before they are kept."""

"""Explanations as data: their fields, JSON, tables, summaries and verification."""

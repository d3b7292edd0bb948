"""Measurements: one command each, exact counts first."""

"""Conclusions from answers about sets: known zeros and ones, an index over them, weights, and hitting sets.

This package needs only the standard library.
"""

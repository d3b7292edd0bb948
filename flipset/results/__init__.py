"""Explanations as data: their fields, their JSON, their columns, their summary, and their verification."""

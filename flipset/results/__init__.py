"""What users get: explanations of one row and of a table, their JSON, their summary, and their verification."""

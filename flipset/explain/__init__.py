"""From a model, a space and rows to explanations: one row as a flow, a table, workers, audits."""

"""Rules between columns, such as `satisfactory <= total`, and the greatest row that keeps them.

- `inequalities`: a text becomes linear inequalities between columns.
- `projection`: the greatest allowed point at or below a point, for one row.
"""

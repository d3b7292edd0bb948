"""Results for people: text, HTML reports, plots."""

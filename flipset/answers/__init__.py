"""The scores of one row and its changes, and the check that they agree with the directions."""

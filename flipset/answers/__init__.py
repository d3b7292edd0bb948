"""What the model answered about one row and its changes, and whether the answers agree with the directions."""

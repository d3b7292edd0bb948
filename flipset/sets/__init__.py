"""What answers about sets imply: zeros and ones, an index over them, weights, hitting sets; standard library only."""

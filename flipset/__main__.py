"""`python -m flipset` is the command `flipset`."""

from flipset.cli import main

if __name__ == "__main__":
    main()

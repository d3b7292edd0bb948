"""Write the pins, or tell what differs from them."""

from tests.pins.command import main

if __name__ == "__main__":  # processes that a case starts read this file, too
    main()

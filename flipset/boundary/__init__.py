"""What crosses the boundary of the program: files that are read and written, processes, text for a terminal.

Everything here expects the worst of the other side. What is read has a largest size and a type, computations about it
have a largest number of steps, files that are written are complete or not there, processes end with the program, and
text from others cannot command a terminal.
"""

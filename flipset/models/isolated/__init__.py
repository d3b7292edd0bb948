"""Model files in a process of their own, which may die without taking the program along.

Formats that run no code are still read by libraries written in C++, and a damaged or hostile file can crash these.

- `frames`: the messages between the two processes.
- `process`: starting the process, asking it, and finding out how it ended.
- `model`: the model as the program sees it.
- `child`: what runs inside the process. Nothing else may import it.
"""

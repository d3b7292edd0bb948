"""The command line: parse the arguments, call the library, print the result."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError

from flipset import FlipsetError, __version__
from flipset.cli import commands, serving, tables, verify
from flipset.cli.files import keep_files_apart
from flipset.cli.signals import ending_on_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flipset.cli.signals import Ending

app = App(
    name="flipset",
    version=__version__,
    suppress_keyboard_interrupt=False,  # `_run` handles it, and knows which signal it was
    help="All smallest sets of features whose change flips a monotone model's decision, with a proof.",
    help_epilogue=(
        "MODEL is a file (.ubj, .json, .txt, .cbm, .onnx, .skops), python:package.module:object, or the URL of a "
        "scoring endpoint; --url takes a URL as well. "
        "Model files run no code, but one that is damaged or hostile can crash its library: see --isolate. "
        "DATA is a table (.csv, .csv.gz, .tsv, .parquet, .jsonl, .feather, .arrow) or - for CSV on standard input. "
        "Exit codes: 0 success; 1 an audit or a proof failed; 2 an error in the arguments, the data or the model; "
        "130 interrupted; 143 terminated. --debug shows the traceback of an error."
    ),
)
COMMANDS = (
    commands.demo,
    commands.explain,
    commands.space,
    tables.table,
    commands.audit,
    verify.verify,
    verify.journal,
    commands.bench,
    serving.serve,
)
for command in COMMANDS:
    app.command(keep_files_apart(command))
app.register_install_completion_command()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. An error in the input or the model is printed as one line, with exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    with ending_on_signals() as ending:
        _run(given, debug, ending)
    if (code := ending.exit_code()) is not None:  # it was asked to end, and has written what it had
        sys.exit(code)


def _run(given: Sequence[str], debug: bool, ending: Ending) -> None:
    """Run a command, and turn what it raises into one line and an exit code."""
    try:
        app(given, print_error=debug, exit_on_error=debug)
        sys.stdout.flush()
    except (FlipsetError, CycloptsError) as error:
        if debug:
            raise
        print(f"flipset: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:  # also where the command was asked to end
        code = ending.exit_code()
        print(f"flipset: {'interrupted' if code is None else 'terminated'}", file=sys.stderr)
        sys.exit(130 if code is None else code)
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe: not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)

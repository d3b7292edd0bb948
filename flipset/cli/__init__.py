"""The command line: parse the arguments, call the library, print the result."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError

from flipset import FlipsetError, __version__
from flipset.cli import commands, recheck, serving, tables, verify
from flipset.cli.carets import caret_lines
from flipset.cli.exits import INTERRUPTED, MEANINGS, code_for, one_line
from flipset.cli.files import keep_files_apart
from flipset.cli.printing import warnings_as_lines, width
from flipset.cli.signals import ending_on_signals

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

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
        f"Exit codes: {'; '.join(f'{code} {meaning}' for code, meaning in MEANINGS.items())}. "
        "--debug shows the traceback of an error."
    ),
)
COMMANDS = (
    commands.demo,
    commands.explain,
    commands.space,
    tables.table,
    commands.audit,
    verify.verify,
    recheck.recheck,
    verify.journal,
    commands.bench,
    serving.serve,
)
# Every command is wrapped here and not where it is defined, so that a new one cannot be left out of the check.
for command in COMMANDS:
    app.command(keep_files_apart(command))
app.register_install_completion_command()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. An error is printed as one line; `flipset.cli.exits` says with which exit code.

    Where a text cannot be read, two more lines show it with a caret under the place.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Taken out before the parser sees it: it belongs to no command, and must work where parsing itself fails.
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    with ending_on_signals() as ending, warnings_as_lines() as warned:
        try:
            _run(given, debug, ending, warned)
        except SystemExit:
            if ending.exit_code() is None:
                raise
    if (code := ending.exit_code()) is not None:  # it was to end, and has reported what it had
        sys.exit(code)


def _run(given: Sequence[str], debug: bool, ending: Ending, warned: Collection[str]) -> None:
    """Run a command, and turn what it raises into one line and an exit code."""
    try:
        try:
            app(given, print_error=debug, exit_on_error=debug)  # ends with SystemExit, also after a success
        finally:
            # Here, where a fault becomes one line: Python would flush at its end, and print a traceback.
            sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe: not an error
        _drop_output()
        sys.exit(0)
    except (FlipsetError, CycloptsError, OSError) as error:
        if debug:
            raise
        if (line := one_line(error)) not in warned:  # a call that was abandoned is both
            print(line, *caret_lines(str(error), width()), sep="\n", file=sys.stderr)
        if isinstance(error, OSError):  # perhaps of standard output itself, which is flushed once more at the end
            _drop_output()
        sys.exit(code_for(error))
    except KeyboardInterrupt:  # also where the command was asked to end
        print(f"flipset: {'terminated' if ending.was_asked else 'interrupted'}", file=sys.stderr)
        sys.exit(ending.exit_code() or INTERRUPTED)


def _drop_output() -> None:
    """Print nothing more: standard output cannot be written."""
    # Python flushes standard output once more at its end, and would report the same fault again. So its descriptor is
    # replaced: another `sys.stdout` would not help, because the present one still has something to write.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

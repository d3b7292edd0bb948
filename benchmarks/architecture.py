"""Draw the rooms of the package and who imports whom, from the code itself.

Run it with `make architecture`. It writes docs/figures/architecture.svg, the picture of docs/architecture.md. The order
of the rooms and what each is for come from `ROOMS` in tests/test_structure.py, the imports from the import statements.
A test compares the file with what this script makes.

The rooms go down a staircase, in the order in which data flows. Each has its own line and its own column, which meet in
its box; a dot on its line, in the column of another room, is an import. Imports go one way, so all dots lie below the
staircase. The picture shows which rooms import which, and no counts: those change with every commit.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from tests.test_structure import MODULES, PACKAGE, PLAIN_ROOMS, ROOMS, ours, room_of

FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "architecture.svg"

STEP = 15  # from one column to the next
LINE = 27  # from one line to the next
BOX = 19  # the height of a box
EDGE = 18  # around everything
MONO, SANS = 7.25, 6.05  # the width of a letter, about
STEM = 7  # from the left side of a box to the column that starts there

PAPER, GUIDE, WORDS = "#ffffff", "#e2e8f0", "#475569"
PLAIN = {"fill": "#e6f6f2", "stroke": "#0f766e", "text": "#0b4f49"}  # rooms of the standard library alone
OTHER = {"fill": "#ecedfb", "stroke": "#4f46e5", "text": "#312e81"}


def direct_imports() -> dict[str, set[str]]:
    """Return for each room the rooms that its modules import, for types too."""
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for module in MODULES:
        room = room_of(module)
        found[room] |= {room_of(name) for name in ours(module)} - {room}
    return found


def colours(room: str) -> dict[str, str]:
    return PLAIN if room in PLAIN_ROOMS else OTHER


def shown(room: str) -> str:
    """Return a room as people see it: a folder has a slash."""
    return f"{room}/" if (PACKAGE / room).is_dir() else room


def draw() -> str:
    """Return the picture as SVG."""
    rooms = list(ROOMS)
    left = {room: float(EDGE + i * STEP) for i, room in enumerate(rooms)}
    middle = {room: EDGE + i * LINE + BOX / 2 for i, room in enumerate(rooms)}
    widths = {room: len(shown(room)) * MONO + 16 for room in rooms}
    said = {room: ROOMS[room].replace("`", "") for room in rooms}
    ends = [left[room] + widths[room] + 10 + len(said[room]) * SANS for room in rooms]
    width, bottom = round(max(ends) + EDGE), EDGE + len(rooms) * LINE
    height = bottom + 62
    imports = direct_imports()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-labelledby="title desc" font-size="12">',
        '<title id="title">The rooms of flipset and their imports</title>',
        f'<desc id="desc">{escape(described(imports))}</desc>',
        f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
        *guides(rooms, imports, left, middle),
        *(dot(left[name] + STEM, middle[room], name) for room in rooms for name in sorted(imports[room])),
        *(box(room, left[room], middle[room], widths[room], said[room]) for room in rooms),
        *legend(bottom + 14, width - EDGE),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def described(imports: dict[str, set[str]]) -> str:
    """Return the picture in words."""
    order = list(ROOMS)
    told = [f"{room}: {', '.join(sorted(imports[room], key=order.index)) or 'nothing'}" for room in order]
    return "What each room imports. " + "; ".join(told) + "."


def guides(
    rooms: list[str], imports: dict[str, set[str]], left: dict[str, float], middle: dict[str, float]
) -> list[str]:
    """Return thin lines: down from each box to the last room that imports it, and left to the first it imports."""
    lines = []
    for room in rooms:
        x, y = left[room] + STEM, middle[room]
        users = [middle[name] for name in rooms if room in imports[name]]
        used = [left[name] + STEM for name in imports[room]]
        if users:
            lines.append(f'<path d="M{x:g} {y:g}V{max(users):g}" stroke="{GUIDE}"/>')
        if used:
            lines.append(f'<path d="M{x:g} {y:g}H{min(used):g}" stroke="{GUIDE}"/>')
    return lines


def dot(x: float, y: float, room: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="3.4" fill="{colours(room)["stroke"]}"/>'


def box(room: str, x: float, y: float, width: float, said: str) -> str:
    """Return a room's box with its name, and beside it what the room is for."""
    ink = colours(room)
    return (
        f'<rect x="{x:g}" y="{y - BOX / 2:g}" width="{width:g}" height="{BOX}" rx="4" fill="{ink["fill"]}" '
        f'stroke="{ink["stroke"]}"/>'
        f'<text x="{x + 8:g}" y="{y + 4:g}" font-family="ui-monospace, Menlo, Consolas, monospace" font-weight="600" '
        f'fill="{ink["text"]}">{escape(shown(room))}</text>'
        f'<text x="{x + width + 10:g}" y="{y + 4:g}" font-family="system-ui, Helvetica, Arial, sans-serif" '
        f'fill="{WORDS}">{escape(said)}</text>'
    )


def legend(y: float, right: float) -> list[str]:
    """Return what the signs mean."""
    words = f'font-family="system-ui, Helvetica, Arial, sans-serif" fill="{WORDS}"'
    chips = [(PLAIN, "imports the standard library alone"), (OTHER, "may import NumPy and other libraries")]
    lines = [f'<path d="M{EDGE} {y:g}H{right:g}" stroke="{GUIDE}"/>']
    for i, (ink, text) in enumerate(chips):
        x = EDGE + i * 245
        lines.append(
            f'<rect x="{x}" y="{y + 10:g}" width="14" height="10" rx="3" fill="{ink["fill"]}" '
            f'stroke="{ink["stroke"]}"/><text x="{x + 22}" y="{y + 19:g}" {words}>{text}</text>'
        )
    lines.append(
        f'<circle cx="{EDGE + 7}" cy="{y + 33:g}" r="3.4" fill="{WORDS}"/>'
        f'<text x="{EDGE + 22}" y="{y + 37:g}" {words}>'
        "the room to the right of the dot imports the room above it</text>"
    )
    return lines


if __name__ == "__main__":
    FIGURE.write_text(draw(), encoding="utf-8")
    print(f"Written: {FIGURE}")

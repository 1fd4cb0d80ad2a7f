"""The script that Streamlit runs for each visitor, on the first visit and after each click.

It is not next to ``pages/``: with a folder of that name, Streamlit would start in its old multipage mode, in which a
link to a page runs that page alone.
"""

from bartviz.serving import torch_import, turns
from bartviz.ui.frame import page, sidebar, tour


def draw() -> None:
    """The frame, the shared sidebar, and the open page."""
    with turns.turn():
        try:
            navigation = page.frame()
            sidebar.draw(navigation.shows_run)
            navigation.run()
            tour.drawn()
        finally:
            torch_import.warm_up()  # last, because it would delay the first picture


if __name__ == "__main__":
    draw()

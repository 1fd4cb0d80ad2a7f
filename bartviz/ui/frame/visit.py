"""What Streamlit runs for each visitor, at the first look and after each click.

It lies in another folder than ``pages/``: beside a folder of that name Streamlit starts in its old multipage mode, in
which a link to a page would run that page alone.
"""

from bartviz.serving import torch_import, turns
from bartviz.ui.frame import page, sidebar, tour


def draw() -> None:
    """The frame, the sidebar that all pages share, and the page that is open."""
    with turns.turn():
        try:
            navigation = page.frame()
            sidebar.draw()
            navigation.run()
            tour.drawn()
        finally:
            torch_import.warm_up()  # not before: it would keep the first picture waiting


if __name__ == "__main__":
    draw()

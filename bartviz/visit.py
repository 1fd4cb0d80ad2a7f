"""The script that Streamlit runs for each visitor, on the first visit and after each click.

It is not next to ``pages/``: with a folder of that name, Streamlit would start in its old multipage mode, in which a
link to a page runs that page alone.
"""

from contextlib import suppress

from bartviz import features
from bartviz.app.frame import page, page_hooks, sidebar
from bartviz.app.state import session
from bartviz.errors import SettingError
from bartviz.serving import drawing_turns

for feature in features.with_part("parts_page_hooks"):
    page_hooks.use(feature)


def draw() -> None:
    """The frame, the shared sidebar, and the open page."""
    with drawing_turns.turn():
        try:
            navigation = page.frame()
            sidebar.draw(navigation.shows_run, navigation.section)
            navigation.run()
            page_hooks.current().drawn()
        finally:
            with suppress(SettingError):  # the page has said so
                session.engine().warm_up()  # last, because it would delay the first picture


if __name__ == "__main__":
    draw()

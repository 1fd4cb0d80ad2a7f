"""How do the models differ? Sizes, architecture, input and training side by side, from their configurations."""

from functools import partial

from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page
from bartviz.features.models import numbers_model_table as model_table
from bartviz.features.models import parts
from bartviz.features.models import parts_learned as learned
from bartviz.features.models.figure import models as drawing
from bartviz.language import _
from bartviz.record.record import Record


def draw(record: Record | None) -> None:
    subjects = parts.choose()
    show.lead((parts.notice if levels.at_least("intermediate") else parts.simply)(subjects))
    drawn = partial(drawing, subjects, dark=page.dark())
    parts.picture(subjects, drawn)
    if {subject.name for subject in subjects} == set(learned.MODELS):
        learned.draw()
    names = {"table": _("Property by property"), "goals": _("How each is trained")}
    if not levels.at_least("intermediate"):  # examples first, numbers after them
        names = dict(reversed(names.items()))
    part, tab = pick.tabs(names, key="see")
    with tab:
        if part == "table":
            parts.table(subjects)
            show.downloads(
                "models", table=lambda: model_table.tables([subject.name for subject in subjects]), figure=drawn
            )
        else:
            examples = parts.goals(record, subjects)
            show.downloads("objectives", table=lambda: parts.goal_table(examples))
    levels.explain("models")


def main() -> None:
    draw(page.begin("models", needs_record=False))

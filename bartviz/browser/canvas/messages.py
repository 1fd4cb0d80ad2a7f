"""The messages of the canvas, in the reader's language. The scripts fill in the placeholders; no Streamlit here."""

from __future__ import annotations

from bartviz.analysis import sentence_words
from bartviz.browser.scripts import both
from bartviz.language import _, plural
from bartviz.record.attention import Attention, Kind

Messages = dict[str, str | list[str]]


def messages(
    attention: Attention, *, predicts: bool, renormalised: bool, plain: bool = False, apart: bool = False
) -> Messages:
    """All messages of the scripts by name; a pair if it depends on a number. ``predicts``: how rows are named;
    ``plain``: for a beginner, without positions, sums and the rows of a matrix; ``apart``: of the difference of two
    heads."""
    first = _markup() | _names(attention) | _labels(renormalised=renormalised)
    said = first | _cells(predicts=predicts) | _together() | _titles(attention.kind, predicts=predicts)
    return said | (_plainly(predicts=predicts) if plain else {}) | (_apart() if apart else {})


def _apart() -> Messages:
    """What the difference of A and B is called, instead of the attention of a head; which of them looks more, and
    where."""
    return {
        "head": _("B minus A"),
        "alone": "{name}",
        "plot": _("{name}: {rows} rows, {columns} columns. Arrow keys move, Enter chooses a row."),
        "cell": _("{row} at {key}: {weight}"),
        "a_more": _("A higher by {limit}"),
        "b_more": _("B higher by {limit}"),
        "points": _("{number} percentage points"),
        "more_of_a": _("A looks more, by {difference}"),
        "more_of_b": _("B looks more, by {difference}"),
        "alike": _("A and B look alike"),
        "row_apart": _("{row}: A looks more at {a}, B at {b}."),
        "rows_apart": _("{count} rows, on average: A looks more at {a}, B at {b}."),
        "row_part": _("{key} (by {difference})"),
        "row_alike": _("{row}: A and B look alike."),
        "rows_alike": _("{count} rows, on average: A and B look alike."),
    }


def _names(attention: Attention) -> Messages:
    layers, heads = attention.shape[:2]
    kind = sentence_words.kind(attention.kind)
    return {
        "piece": _("{piece} of {word}"),
        "all_heads": _("mean of all {count} {kind} heads", count=layers * heads, kind=kind),
        "layer_heads": _("mean of the {count} heads of {kind} layer {layer}", count=heads, kind=kind, layer="{layer}"),
        "head": _("{kind} L{layer}H{head}", kind=kind, layer="{layer}", head="{head}"),
        "mean": _("mean"),
        "mean_layer": _("mean of L{layer}"),
        "mean_all": _("mean of all"),
    }


def _cells(*, predicts: bool) -> Messages:
    """Cells, rows and columns in words."""
    if predicts:
        cell = _("The row that predicts {row} ({at}) attends to {key} ({place}): {weight}")
        row = _("The row that predicts {row} ({at}) attends most to {best}.")
        then = _("The row that predicts {row} ({at}) attends most to {best}, then to {others}.")
    else:
        cell = _("{row} ({at}) attends to {key} ({place}): {weight}")
        row = _("{row} ({at}) attends most to {best}.")
        then = _("{row} ({at}) attends most to {best}, then to {others}.")
    return {
        "cell": cell,
        "row": row,
        "row_then": then,
        "both": _("{one} and {other}"),
        "masked": _("masked"),
        "listed": _("{names} and {count} more"),
        "out": _("Masked: {names}."),
        "masked_wholly": _("{names}: fully masked, so there are no weights."),
        "waiting": _("{name}: loading the exact numbers."),
        "of_head": _("{name}. {said}"),
        "few_lines": _("Only the {count} strongest lines are drawn."),
    }


def _together() -> Messages:
    """Several rows; and columns, with the weights that they get from one row or several."""
    return {
        "rows": _("{count} rows, {names}, attend most to {best}."),
        "rows_then": _("{count} rows, {names}, attend most to {best}, then to {others}."),
        "rows_part": _("“{key}” (sum {sum}, mean {mean})"),
        "key_row": _("{key} ({place}) gets {sum} from {row} ({at}); mean of all rows {mean}."),
        "key_rows": _("{key} ({place}) gets {sum} from {count} rows (mean {each}); mean of all rows {mean}."),
        "keys_row": _("{columns} columns, {names}, together get {sum} from {row} ({at}); mean of all rows {mean}."),
        "keys_rows": _(
            "{columns} columns, {names}, together get {sum} from {count} rows (mean {each}); mean of all rows {mean}."
        ),
    }


def _titles(kind: Kind, *, predicts: bool) -> Messages:
    """The titles of rows and columns of a map and above the texts."""
    if predicts:
        looks = _("The row that predicts {row} ({at}) looks at")
        shaded = _("Keys, shaded by the weights of the row that predicts {row} ({at})")
    else:
        looks = _("{row} ({at}) looks at")
        shaded = _("Keys, shaded by the weights of {row} ({at})")
    return {
        "axis": _("so far →") if predicts and kind == "decoder" else _("looks at →"),
        "axis_rows": _("to write ↓") if predicts else _("word ↓"),
        "looks": looks,
        "columns_shaded": shaded,
        "rows_look": _("{count} rows (mean) look at"),
        "columns_shaded_by_rows": _("Keys, shaded by the mean weights of {count} rows"),
        "looked_at": both(lambda n: plural("{names} is looked at by", "{names} are looked at by", n, names="{names}")),
        "rows_shaded": _("Queries, shaded by their weight on {names}"),
        "rows_plain": _("Queries: choose one or several"),
        "rows_list": _("Rows"),
        "columns_list": _("Columns"),
    }


def _plainly(*, predicts: bool) -> Messages:
    """The same for a beginner. Shares of several rows are means, which are never more than 100%."""
    return _plain_row(predicts=predicts) | {
        "head": sentence_words.head_in_words("{layer}", "{head}"),
        "of_head": "{said}",
        "masked": _("hidden"),
        "rows": _("{count} rows, {names}, look most at {best}."),
        "rows_then": _("{count} rows, {names}, look most at {best}, then at {others}."),
        "rows_part": _("“{key}” ({mean} on average)"),
        "key_row": _("{row} gives {key} {sum} of its attention; on average, all rows give it {mean}."),
        "key_rows": _("On average, {count} rows give {key} {each} of their attention, and all rows {mean}."),
        "keys_row": _(
            "{row} gives {columns} columns, {names}, together {sum} of its attention; on average, all rows give {mean}."
        ),
        "keys_rows": _(
            "On average, {count} rows give {columns} columns, {names}, together {each} of their attention, and all "
            "rows {mean}."
        ),
        "columns_shaded_by_rows": _("Where {count} rows look, on average"),
        "rows_shaded": _("Which words look at {names}"),
        "rows_plain": _("Words that look: choose one or several"),
    }


def _plain_row(*, predicts: bool) -> Messages:
    """One row for a beginner: a word that looks, or one that is about to be written."""
    if predicts:
        return {
            "cell": _("To write {row}, {key} gets {weight} of the attention"),
            "row": _("To write {row}, most attention goes to {best}."),
            "row_then": _("To write {row}, most attention goes to {best}, then to {others}."),
            "out": _("Hidden: {names}."),
            "looks": _("To write {row}"),
            "columns_shaded": _("Where the head looks to write {row}"),
        }
    return {
        "cell": _("{row} looks at {key}: {weight}"),
        "row": _("{row} looks most at {best}."),
        "row_then": _("{row} looks most at {best}, then at {others}."),
        "out": _("Hidden from it: {names}."),
        "looks": _("{row} looks at"),
        "columns_shaded": _("Where {row} looks"),
    }


def _labels(*, renormalised: bool) -> Messages:
    """For screen readers, the table, the hidden columns, the ends of the colours."""
    hidden = _("{share}% to {names}, hidden")
    if renormalised:
        hidden = _("{share}% to {names}, hidden; the remaining weights are renormalised")
    return {
        "hidden": hidden,
        "hidden_chip": _("hidden"),
        "canvas": _("Attention: thumbnails of all heads, and one head enlarged"),
        "alone": _("attention of {name}"),
        "labelled": _("{label}: {said}"),
        "overview": _(
            "Thumbnails of all heads. Selected: {name}. Arrow keys select another, Enter goes to the large map."
        ),
        "plot": _(
            "{name}: {rows} rows attend to {columns} columns. Arrow keys move, Enter chooses a row, space a column."
        ),
        "table_whole": _("{name}: rows attend to columns"),
        "table_rows": _("{name}: the chosen rows of {count}; the CSV has them all"),
        "table_corner": _("row \\ column"),
        "table_corner_rows": _("column \\ row"),
        "row_largest": _("row’s largest"),
        "play": _("Play"),
        "pause": _("Pause"),
    }


def _markup() -> Messages:
    """The labels of ``canvas.html``."""
    return {
        "view": _("View"),
        "map": _("Map"),
        "lines": _("Lines"),
        "text": _("Text"),
        "map_title": _("Map (1)"),
        "lines_title": _("Lines (2)"),
        "text_title": _("Text (3)"),
        "zoom": _("Zoom"),
        "smaller": _("Smaller"),
        "smaller_title": _("Smaller (-)"),
        "fit": _("fit"),
        "fit_title": _("The whole map (0)"),
        "larger": _("Larger"),
        "larger_title": _("Larger (+)"),
        "steps": _("Steps"),
        "back": _("One step back"),
        "back_title": _("One step back (,)"),
        "play_title": _("Play or pause (P)"),
        "next": _("One step forward"),
        "next_title": _("One step forward (.)"),
        "colours": _("Colours"),
        "type": _("Larger type"),
        "type_title": _("Larger type (L)"),
        "as_table": _("These numbers as a table"),
        "keys": _("Keyboard and pointer"),
        "keys_small": _("Small maps"),
        "keys_small_said": _(
            "arrows: another head or mean · Page Up, Page Down: another layer · Enter: to the large map"
        ),
        "keys_large": _("Map, lines, text"),
        "keys_large_said": _(
            "arrows: a cell or token · Enter: choose its row · space: choose its column · with Shift: add "
            "it, or extend the selection"
        ),
        "keys_pointer": _("Pointer"),
        "keys_pointer_said": _(
            "choose a row or a column · Shift: extend to here · Ctrl: add · drag along a token axis: select a "
            "range · wheel and drag: zoom and move"
        ),
        "keys_touch": _("Touch"),
        "keys_fingers": _("Tap and zoom"),
        "keys_touch_said": _("tap: choose a row · two fingers: zoom and move"),
        "keys_steps": _("Steps"),
        "keys_steps_said": _("comma, full stop: one step back, one step forward · P: play or pause"),
        "keys_all": _("Everywhere"),
        "keys_next": _("[ and ]: head before, next head"),
        "keys_all_said": _("1, 2, 3: map, lines, text · +, -, 0: zoom · Escape: clear · L: larger type · ?: this list"),
    }

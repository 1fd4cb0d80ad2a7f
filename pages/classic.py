"""How does the classic view draw it? The head view and the model view of bertviz, without the network."""

from bartviz.ui import classic, page, show

EXPLAIN = """
**Head view** (after Vig 2019): the tokens that look on the left, the tokens that are looked at on the right, one colour
for each head of the layer. The stronger the line, the larger the weight, divided by the number of heads that are on.
Click a coloured square to switch a head off or on; double-click one to keep it alone.

**Model view**: every layer and head as a thumbnail of the same lines. Click one for its words, click again to close.

**One kind at a time.** Encoder and decoder may have different depths, so each is drawn by itself.

**Why it is for short texts.** A line is drawn for every weight of every head. For long texts, exact numbers, keys and
a table use the page *Heads*: it shows the same weights.

Line strength is a poor scale: a weight of 0.5 beside one of 0.6 looks the same, and many faint lines look like none.
"""


def main() -> None:
    record = page.begin("classic")
    chosen = classic.choose(record)
    show.lead(classic.notice(chosen))
    show.note(classic.cap(chosen))
    classic.picture(chosen)
    page.link("heads", "The same weights as maps and tables")
    show.explain(EXPLAIN)
    show.downloads("classic", record=record)


main()

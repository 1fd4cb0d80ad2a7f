"""What the catalogue says of its models, as messages; a test holds that they are the catalogue's own words."""

from __future__ import annotations

from bartviz.language import mark

TITLES = (
    mark("BART, tiny, English to German · ships with bartviz"),
    mark("BART, tiny, repairs damaged text · ships with bartviz"),
    mark("BERT, tiny, English · ships with bartviz"),
    mark("BERT base, English · 438 MB"),
    mark("BERT large, English · 1.34 GB"),
    mark("BART base, English · 558 MB"),
    mark("BART large, English · 1.63 GB"),
    mark("BART large, news summaries, English · 1.63 GB"),
    mark("GPT-2 small, English · 498 MB"),
    mark("GPT-2 medium, English · 1.42 GB"),
    mark("T5 small, English and translation · 242 MB"),
    mark("T5 base, English and translation · 892 MB"),
    mark("T5 large, English and translation · 2.95 GB"),
    mark("Marian, English to German · 298 MB"),
    mark("Pegasus, one-sentence summaries, English · 2.28 GB"),
    mark("DistilBART, news summaries, English · 1.22 GB"),
    mark("RoBERTa base, English · 499 MB"),
    mark("DistilBERT base, English · 265 MB"),
    mark("ALBERT base, English · 47 MB"),
    mark("T5 1.1 base, English · 990 MB"),
)
NOTES = (
    mark("Translates short English sentences. Trained for this package; needs no download."),
    mark(
        "Rebuilds English text from masked, deleted or shuffled input: BART's own pre-training task. Needs no download."
    ),
    mark("Fills masked words and compares two sentences. Trained for this package; needs no download."),
    mark("The encoder of the articles: 12 layers of 12 heads. Reads one text or a pair of sentences; does not write."),
    mark("Twice as deep as BERT base: 24 layers of 16 heads."),
    mark(
        "The encoder-decoder of the articles: 6 + 6 layers of 12 heads. Pre-trained to repair text; fine-tune it for a "
        "task."
    ),
    mark("12 + 12 layers of 16 heads. Pre-trained to repair text; fine-tune it for a task."),
    mark("BART large fine-tuned on CNN and Daily Mail: turns a news article into three or four sentences."),
    mark("Decoder only: every word sees the words before it. Continues a text."),
    mark("Decoder only, twice as deep as GPT-2 small."),
    mark(
        'Takes a task prefix, such as "translate English to German: ". The smallest hub model here; relative positions.'
    ),
    mark('Takes a task prefix, such as "summarize: "; 12 + 12 layers, relative positions.'),
    mark("24 + 24 layers; in the articles' table of sizes."),
    mark("A full-size translator: 6 + 6 layers of 8 heads, positions computed from sines, not learned."),
    mark("Fine-tuned on BBC news (XSum): one sentence for an article. 16 + 16 layers, pre-norm, computed positions."),
    mark("BART large for CNN news with half of the decoder: 12 encoder and 6 decoder layers."),
    mark("BERT's architecture with BART's vocabulary, trained longer and without sentence pairs."),
    mark("BERT base with half of the layers, taught by the whole; no segments, no pooler."),
    mark("As deep as BERT base with a tenth of its parameters: all 12 layers share one set of weights."),
    mark("Gated feed-forward layers and an output matrix of its own. Pre-trained only: fine-tune it for a task."),
)

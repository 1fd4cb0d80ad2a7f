"""Every head of a model measured over a corpus: texts from files, sums of shards, an atlas of heads."""

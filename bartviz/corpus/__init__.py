"""What every head of a model does over a corpus: texts from files, sums of shards, an atlas of heads."""

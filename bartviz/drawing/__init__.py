"""Drawing shared by the figures of several features: themes, axes, cells, maps, and pictures for paper."""

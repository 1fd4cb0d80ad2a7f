"""What the figures of several features are drawn with: themes, axes, cells, maps, and pictures for paper."""

"""The parts of the page denoising."""

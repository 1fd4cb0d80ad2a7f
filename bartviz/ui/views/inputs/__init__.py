"""The parts of the page inputs."""

"""producers/gym."""

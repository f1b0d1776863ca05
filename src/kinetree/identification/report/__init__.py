"""What identification says of itself: errors of torques, in words and pictures."""

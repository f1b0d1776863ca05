"""Pictures and films of robots, from triangles to pixels, without a screen."""

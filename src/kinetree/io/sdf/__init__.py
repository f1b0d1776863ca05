"""SDF, the Simulation Description Format of Gazebo, versions 1.4 to 1.12."""

"""An exam that people sit themselves: how its images are chosen, and what they answered."""

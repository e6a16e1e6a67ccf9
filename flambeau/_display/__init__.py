"""Output for people: progress bars, charts, images, descriptions of tensors."""

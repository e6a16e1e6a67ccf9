"""What is shown to people: progress, charts, pictures, descriptions of tensors."""

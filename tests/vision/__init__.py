"""Images: transforms, files, data sets, models, by what is known of their results."""

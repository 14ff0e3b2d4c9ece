"""What a noise distribution guarantees: privacy profiles and zero-concentrated bounds."""

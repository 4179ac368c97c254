"""What commands share: options, output, streams, errors of ranks."""

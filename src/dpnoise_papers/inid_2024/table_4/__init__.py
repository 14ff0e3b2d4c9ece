"""Table IV: deep learning under privacy, the noise that it needs and what it costs."""

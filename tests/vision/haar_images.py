"""Small images whose classes are separable by a few Haar features."""

import numpy as np


def bars(n=120, side=8, seed=0, depth=2):
    """Noise with a dark bar, vertical for class 0 and horizontal for class 1."""
    random = np.random.default_rng(seed)
    images = random.integers(40, 220, size=(n, side, side), dtype=np.uint8)
    y = random.integers(0, 2, size=n)
    middle = side // 2
    for image, label in zip(images, y, strict=True):
        shift = random.integers(-1, 2)
        where = slice(middle - 1 + shift, middle + 1 + shift)
        bar = np.s_[:, where] if label == 0 else np.s_[where, :]
        image[bar] //= depth
    return images, y

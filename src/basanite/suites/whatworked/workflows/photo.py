"""Denoising of a part of `china.jpg`, a sample image of scikit-learn."""

import numpy as np
from scipy.ndimage import gaussian_filter, median_filter
from sklearn.datasets import load_sample_image

SIZE = 6


def patched(image, step):
    rows = range(0, image.shape[0] - SIZE + 1, step)
    columns = range(0, image.shape[1] - SIZE + 1, step)
    places = [(r, c) for r in rows for c in columns]
    flat = np.array([image[r : r + SIZE, c : c + SIZE].ravel() for r, c in places])
    centre = flat.mean(axis=0)
    _, _, axes = np.linalg.svd(flat - centre, full_matrices=False)
    kept = (flat - centre) @ axes[:8].T @ axes[:8] + centre
    total, count = np.zeros_like(image), np.zeros_like(image)
    for (r, c), patch in zip(places, kept.reshape(-1, SIZE, SIZE), strict=True):
        total[r : r + SIZE, c : c + SIZE] += patch
        count[r : r + SIZE, c : c + SIZE] += 1
    return total / count


def run(config, seed):
    image = load_sample_image("china.jpg")[100:220, 200:350].mean(axis=2) / 255
    rng = np.random.default_rng(seed)
    seen = image + rng.normal(0, 0.08, image.shape)
    struck = rng.random(image.shape)
    seen[struck < 0.02], seen[struck > 0.98] = 0.0, 1.0
    seen = np.clip(seen, 0, 1)
    if config["median"] == "on":
        seen = median_filter(seen, 3)
    if config["blur"] == "on":
        seen = gaussian_filter(seen, 1)
    if config["patches"] == "on":
        seen = patched(seen, 2 if config["overlap"] == "on" else SIZE)
    if config["sharpen"] == "on":
        seen = seen + (seen - gaussian_filter(seen, 2))
    shown = np.round(np.clip(seen, 0, 1) * 255).astype(np.uint8)
    error = float(np.sqrt(np.mean((shown / 255 - image) ** 2)))
    return {"score": error, "output": shown}

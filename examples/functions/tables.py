"""
A Markov random field with tables
=================================

A binary Markov random field gives each pair of neighbours a probability for each of its four
states.  The energies are tables of four numbers: minus their logarithms.  Here they are counted in
one picture, and restore another one.
"""

import matplotlib.pyplot as plt
import numpy as np
import skimage.data

import submin as sm

# %%
# One texture teaches, another one of its kind is to be restored.  Both lie more across than down.

teacher = skimage.data.binary_blobs(240, blob_size_fraction=0.1, rng=1)[::3]
clean = skimage.data.binary_blobs(240, blob_size_fraction=0.1, rng=0)[::3]
noisy = clean ^ (np.random.default_rng(0).random(clean.shape) < 0.25)

# %%
# The more probable the state of a pair is, compared with that of two independent pixels, the less
# it costs.  Pairs of a grid say much the same many times over, so each counts by 0.3.
#
# Bit b of a table's index says whether its element b is in S.  An empty set must cost 0, so the
# first entry is taken away from all of them.

white = teacher.mean()
apart = np.outer([1 - white, white], [1 - white, white]).ravel()
numbers = np.arange(clean.size).reshape(clean.shape)
terms = []
for name, first, second in (
    ("right", np.s_[:, :-1], np.s_[:, 1:]),
    ("down", np.s_[:-1, :], np.s_[1:, :]),
):
    counts = np.bincount((teacher[first] + 2 * teacher[second]).ravel(), minlength=4)
    energies = -0.3 * np.log(counts / counts.sum() / apart)
    print(name, np.round(energies, 2))
    pairs = np.stack([numbers[first].ravel(), numbers[second].ravel()], axis=1)
    terms.append(sm.Table(pairs, energies - energies[0]))

# %%
# What a pixel shows is wrong with a probability of 0.25.  The most probable picture is a minimiser.

evidence = np.where(noisy, -1.0, 1.0) * np.log(0.75 / 0.25) + np.log((1 - white) / white)
result = sm.minimize(sm.Problem(evidence, terms))
print(f"{np.mean(noisy != clean):.1%} of the pixels wrong, then")
print(f"{np.mean(result.minimizer != clean):.1%}; {result.certificate}")

figure, axes = plt.subplots(3, 1, figsize=(7, 7.6), layout="constrained")
pictures = {"noisy": noisy, "most probable": result.minimizer, "clean": clean}
for panel, (name, picture) in zip(axes, pictures.items(), strict=True):
    panel.imshow(picture, cmap="gray")
    panel.set_title(name)
    panel.set_axis_off()
plt.show()

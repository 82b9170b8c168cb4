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
# The upper part of a page of letters teaches, the lower part is to be restored.

page = skimage.data.page()[:, :320] < 130
teacher, clean = page[:95], page[95:]
noisy = clean ^ (np.random.default_rng(0).random(clean.shape) < 0.12)

# %%
# Bit b of a table's index says whether its element b is in S.  An empty set must cost 0, so the
# first entry is taken away from all of them.

numbers = np.arange(clean.size).reshape(clean.shape)
ink = teacher.mean()
alone = np.array([1 - ink, ink])  # of a pixel without its neighbours
terms = []
for first, second in (
    (np.s_[:, :-1], np.s_[:, 1:]),  # to the right
    (np.s_[:-1, :], np.s_[1:, :]),  # down
    (np.s_[:-1, :-1], np.s_[1:, 1:]),  # down and right
    (np.s_[:-1, 1:], np.s_[1:, :-1]),  # down and left
):
    counts = np.bincount((teacher[first] + 2 * teacher[second]).ravel(), minlength=4)
    together = counts / counts.sum()
    energies = -0.5 * np.log(together / np.outer(alone, alone).ravel())
    print(np.round(energies, 2))
    pairs = np.stack([numbers[first].ravel(), numbers[second].ravel()], axis=1)
    terms.append(sm.Table(pairs, energies - energies[0]))

# %%
# What a pixel shows is wrong with a probability of 0.12.  The most probable page is a minimiser.

evidence = np.where(noisy, -1.0, 1.0) * np.log(0.88 / 0.12) + np.log((1 - ink) / ink)
result = sm.minimize(sm.Problem(evidence, terms))
print(f"{np.mean(noisy != clean):.1%} of the pixels wrong, then")
print(f"{np.mean(result.minimizer != clean):.1%}; {result.certificate}")

figure, axes = plt.subplots(3, 1, figsize=(8, 7), layout="constrained")
pictures = {"noisy": noisy, "most probable": result.minimizer, "clean": clean}
for panel, (name, picture) in zip(axes, pictures.items(), strict=True):
    panel.imshow(picture, cmap="gray_r")
    panel.set_title(name)
    panel.set_axis_off()
plt.show()

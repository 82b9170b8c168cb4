"""From a photograph to a mask, with a proof of optimality.

GrabCut: Rother, Kolmogorov, Blake 2004, doi:10.1145/1015706.1015720; for scribbles
Boykov, Jolly 2001, doi:10.1109/ICCV.2001.937505.  ``rounds.py`` has the energy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy.typing as npt

from submin import _checks
from submin._typing import BoolArray
from submin.model.problem import Problem
from submin.solve.api import minimize
from submin.solve.certificate import Certificate, Status
from submin.solve.driver import Callback
from submin.solve.progress import displaying
from submin.solve.result import History, Result
from submin.solvers.solver import Solver
from submin.terms import GridCut, Term
from submin.vision.colour_models import ColourFitter, ColourModels
from submin.vision.colours import Colours
from submin.vision.contrast import check_number, contrast_weights
from submin.vision.rounds import Alternation, Clock, Report, Round
from submin.vision.seeds import Seeds
from submin.vision.superpixels import superpixel_labels, superpixel_term

OnRound = Callable[[Round], object]


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation:
    """The answer of ``segment``.

    Attributes
    ----------
    mask : bool array, shape (H, W)
        ``True`` on the object.
    energies : tuple of float
        Energy of the mask after each round, in nats; never increasing.
    changed : tuple of int
        Pixels that each round put on the other side, the first one beside the first guess.
    result : Result
        Answer of the last round, with its certificate: the mask costs at most ``result.gap`` more
        than the best mask under these colour models.
    problem : Problem
        Problem of the last round; ``verify(problem, result)`` checks the certificate.
    models : ColourModels
        Colour models of the last round.
    seeds : Seeds
        Hard constraints.
    histories : tuple of History
        How the solver converged in each round.
    settled : bool
        Whether the rounds ended because nothing changed, and not at a limit.
    seconds : float
        Wall time of everything.
    """

    mask: BoolArray
    energies: tuple[float, ...]
    changed: tuple[int, ...]
    result: Result
    problem: Problem
    models: ColourModels
    seeds: Seeds
    histories: tuple[History, ...]
    settled: bool
    seconds: float

    @property
    def certificate(self) -> Certificate:
        """Proof of the last round."""
        return self.result.certificate

    @property
    def status(self) -> Status:
        """What was proved in the last round."""
        return self.result.status

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.energies)

    @property
    def passes(self) -> float:
        """Passes of all rounds."""
        return sum(history[-1].passes for history in self.histories if history)

    @property
    def projections(self) -> int:
        """Block projections of all rounds."""
        return sum(history[-1].projections for history in self.histories if history)

    def __repr__(self) -> str:
        return f"<Segmentation {self}>"

    def __str__(self) -> str:
        ending = "until nothing changed" if self.settled else "up to a limit"
        return (
            f"object: {int(self.mask.sum())} of {self.mask.size} pixels; {self.rounds} rounds "
            f"{ending}, {self.seconds:.3g} s; {self.status.name}: {self.certificate}"
        )


def segment(
    image: npt.ArrayLike,
    *,
    box: Sequence[float] | None = None,
    scribbles: npt.ArrayLike | None = None,
    mask: npt.ArrayLike | None = None,
    smoothness: float = 50.0,
    connectivity: int = 8,
    components: int = 5,
    superpixels: int = 0,
    superpixel_weight: float = 1.0,
    max_rounds: int = 10,
    solver: Solver[Any] | str = "auto",
    tol: float = 0.0,
    max_passes: float | None = None,
    time_limit: float | None = None,
    threads: int = 0,
    progress: bool = False,
    callback: Callback | None = None,
    on_round: OnRound | None = None,
    seed: int = 0,
) -> Segmentation:
    """Separate an object from its background.

    Parameters
    ----------
    image : array_like, shape (H, W), (H, W, 3) or (H, W, 4)
        Grey, RGB or RGBA of any real type, such as ``submin.vision.read_photograph(path)`` reads
        from a file.  Values count by their contrast: they are stretched from minimum..maximum of
        the visible pixels to [0, 1], with the same map for all colour channels, so type, scale
        and offset do not matter.  A hundredth of them at either end that lies far beyond the
        others (hot pixels, marks of missing data) is clipped.  The opacity is relative to that of
        the most opaque pixel.
    box : (x1, y1, x2, y2), optional
        Columns x1 to x2 - 1 and rows y1 to y2 - 1 hold the whole object; all else is background.
        Integers, or floats without a fraction.
    scribbles : array_like, shape (H, W) or (H, W, 3), optional
        Labels 0 (unmarked), 1 (background), 2 (object); or a picture with red strokes on the
        background, white or cream ones on the object, black elsewhere.  Strokes are kept.
    mask : array_like of bool or int, shape (H, W), optional
        First guess of the object, to be refined anywhere: booleans, or 0 outside of it and 1, 255
        or 65535 on it.  Other labels are refused, since they could mean anything: for a mask of
        OpenCV pass ``mask=np.isin(m, (1, 3))`` and ``scribbles=np.select([m == 0, m == 1],
        [1, 2])``.
    smoothness : float, optional
        Cost of a boundary per pixel where neighbours look alike, in nats.
    connectivity : int, optional
        4 or 8 neighbours.
    components : int, optional
        Gaussians in each colour model.
    superpixels : int, optional
        Number of superpixels that are kept together; 0 for none.
    superpixel_weight : float, optional
        Cost of a pixel that leaves its superpixel, up to a quarter of its pixels, in nats.
    max_rounds : int, optional
        Largest number of rounds; 1 keeps the first colour models.
    solver, tol, max_passes, threads, callback
        As for ``minimize``, in each round.  A callback that returns ``True`` ends the rounds too.
    progress : bool, optional
        Show the round and the gap on standard error, with passes and seconds since the start; a
        line for each round stays.
    on_round : callable (Round) -> bool, optional
        Called after each round with its number, mask, certificate and models; returning ``True``
        ends the rounds.
    time_limit : float, optional
        Seconds for all rounds together; the first round always gives an answer.
    seed : int, optional
        Fixes all random choices: the same call gives the same mask.

    Returns
    -------
    Segmentation

    Raises
    ------
    ImportError
        If scikit-image or scikit-learn is missing: ``pip install "submin[vision]"``.
    TypeError, ValueError
        If an input does not fit, or two contradict each other at a pixel (which is named).

    Notes
    -----
    Box, scribbles and mask can be combined.  The energy never goes up from round to round (see
    ``rounds.py``).  A box in which nothing differs from the outside gives an empty mask.

    Examples
    --------
    >>> import numpy as np, submin as sm
    >>> image = np.zeros((20, 30))
    >>> image[5:12, 8:20] = 1.0
    >>> found = sm.segment(image, box=(4, 3, 24, 15))
    >>> found.status.name, bool((found.mask == (image == 1.0)).all())
    ('OPTIMAL', True)
    """
    clock = Clock(time.perf_counter(), time_limit)
    check_number("superpixel_weight", superpixel_weight)
    check_number("tol", tol)
    _checks.whole_number("components", components, 1)
    _checks.whole_number("superpixels", superpixels, 0)
    _checks.whole_number("max_rounds", max_rounds, 1)
    _checks.whole_number("seed", seed, 0)
    if on_round is not None and not callable(on_round):
        raise TypeError(f"on_round is {on_round!r}: it must be callable with (round)")
    colours = Colours.of(image)
    seeds = Seeds.of(colours.shape, box, scribbles, mask)
    fitter = ColourFitter(colours.palette, colours.volume, components, seed)
    features = colours.palette.pixels
    terms: list[Term] = [
        GridCut(
            colours.shape,
            contrast_weights(features, smoothness=smoothness, connectivity=connectivity),
            connectivity,
        )
    ]
    if superpixels:
        terms.append(superpixel_term(superpixel_labels(features, superpixels), superpixel_weight))
    with displaying(progress) as display:
        report = Report(display, callback, clock)
        solve = partial(
            minimize, solver=solver, tol=tol, max_passes=max_passes, threads=threads,
            callback=report.callback,
        )  # fmt: skip
        rounds = Alternation(fitter, seeds, terms, solve, tol, clock)
        return _collect(rounds, max_rounds, report, on_round)


def _collect(
    alternation: Alternation, max_rounds: int, report: Report, on_round: OnRound | None
) -> Segmentation:
    """Run the rounds until they settle, or a limit or the user stops them."""
    energies: list[float] = []
    changed: list[int] = []
    histories: list[History] = []
    for done in alternation.rounds(max_rounds):
        last = done
        energies.append(done.result.value)
        changed.append(done.changed)
        histories.append(done.result.history)
        report.close(done.result)
        stop = on_round is not None and bool(on_round(done))
        if stop or done.result.interrupted or alternation.clock.left == 0:
            break
    return Segmentation(
        last.result.minimizer, tuple(energies), tuple(changed), last.result, last.problem,
        last.models, alternation.seeds, tuple(histories), last.settled, alternation.clock.seconds,
    )  # fmt: skip

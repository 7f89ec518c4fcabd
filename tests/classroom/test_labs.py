"""Every lab of the course, driven to every stop of every control."""

import io
import threading

import matplotlib
import numpy as np
import pytest
from matplotlib import _pylab_helpers
from PIL import Image

from lessons_lib.classroom import labs
from lessons_lib.classroom.controls import MOST_STOPS, Control, Try, choice, slider, steps, switch
from lessons_lib.classroom.lab import Lab
from lessons_lib.classroom.png import png_bytes

ALL = {name: getattr(labs, name) for name in labs.__all__}


@pytest.fixture(scope="module", params=ALL)
def lab(request):
    return ALL[request.param]()


def global_settings():
    settings = dict(matplotlib.rcParams.copy())
    settings.pop("backend")  # chosen by whoever asks first, not by a lab
    return settings


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)))


def test_every_stop_of_every_control_draws_and_touches_nothing_global(lab):
    settings, figures = global_settings(), len(_pylab_helpers.Gcf.figs)
    random_state = np.random.get_state()[1].copy()  # noqa: NPY002
    start = {control.name: control.stops[control.start] for control in lab.controls}
    silent = {control.name for control in lab.controls}
    for position in ({}, *(entry.values for entry in lab.tries)):
        for control in (
            lab.controls if not position else [c for c in lab.controls if c.name in silent]
        ):
            lab.set(**(start | position))
            pictures = set()
            for stop in control.stops:
                lab.set(**{control.name: stop})
                assert not lab.view["error"], lab.view["sentence"]
                assert lab.values[control.name] == stop
                assert lab.sentence
                pictures.add(lab.picture)
            if len(pictures) > 1:
                silent.discard(control.name)
    lab.set(**start)
    assert not silent, "these controls never change the picture"
    assert global_settings() == settings
    assert len(_pylab_helpers.Gcf.figs) == figures
    assert np.array_equal(random_state, np.random.get_state()[1])  # noqa: NPY002


def test_both_ends_of_all_controls_at_once(lab):
    for end in (0, -1):
        lab.set(**{control.name: control.stops[end] for control in lab.controls})
        assert not lab.view["error"], lab.view["sentence"]
    lab.set(**{control.name: control.stops[control.start] for control in lab.controls})


def test_the_picture_does_not_depend_on_the_way_there(lab):
    start = {control.name: control.stops[control.start] for control in lab.controls}
    lab.set(**start)
    first = lab.picture
    for control in lab.controls:
        lab.set(**{control.name: control.stops[-1]})
    lab.set(**start)
    assert np.array_equal(pixels(lab.picture), pixels(first))


def test_a_reader_without_a_kernel_gets_picture_sentence_controls_and_tries(lab):
    data, metadata = lab._repr_mimebundle_()
    assert metadata["image/png"]["alt"] == lab.sentence
    for form in ("text/plain", "text/html"):
        plain = data[form].replace("&gt;", ">").replace("&#x27;", "'").replace("&amp;", "&")
        for control in lab.controls:
            assert control.label in plain
        for part in (lab.title, lab.sentence, *(entry.look_for for entry in lab.tries)):
            assert part in plain
    assert "application/vnd.jupyter.widget-view+json" in data


def test_a_lab_names_three_positions_and_what_to_look_for(lab):
    assert len(lab.tries) >= 3
    for entry in lab.tries:
        lab.set(**entry.values)
        assert entry.look_for.strip()


def test_controls_are_few_enough_to_try_all(lab):
    assert all(len(control.stops) <= MOST_STOPS for control in lab.controls)
    assert len({control.name for control in lab.controls}) == len(lab.controls)
    assert len({control.label for control in lab.controls}) == len(lab.controls)


class Dot:
    """The smallest chart: one mark."""

    def __init__(self, figure):
        self.axes = figure.subplots()
        (self.dot,) = self.axes.plot([0], [0], "o")
        self.moving = [self.dot]

    def update(self, result):
        self.dot.set_ydata([result])
        return 1


def small(model=lambda x: x, say=lambda r: f"x is {r}"):
    return Lab("Small", [slider("x", "X", [0, 1, 2, 3], 1)], model, Dot, say)


def test_an_error_in_a_callback_is_shown_and_the_next_good_value_clears_it():
    def picky(x):
        if x == 2:
            raise ValueError("x must not be 2, got 2")
        return x

    lab = small(picky)
    with pytest.raises(ValueError, match="must not be 2"):
        lab.set(x=2)
    assert lab.view["error"]
    assert lab.view["sentence"] == "x must not be 2, got 2"
    assert lab.view["table"] == ""
    assert lab.set(x=3) == 3
    assert not lab.view["error"]
    assert lab.view["sentence"] == "x is 3"


def test_an_error_at_the_first_draw_is_raised():
    with pytest.raises(ZeroDivisionError):
        small(lambda x: 1 // 0)


def test_set_says_what_is_wrong():
    lab = small()
    with pytest.raises(TypeError, match=r"no control 'y'; it has \['x'\]"):
        lab.set(y=1)
    with pytest.raises(ValueError, match=r"x has the stops 0, 1, 2, 3; 7 is none of them"):
        lab.set(x=7)
    with pytest.raises(ValueError, match="none of them"):
        lab.set(x=True)
    assert lab.values == {"x": 1}


def test_while_one_thread_draws_newer_values_win_and_older_ones_are_skipped():
    started, go, drawn = threading.Event(), threading.Event(), []

    def slow(x):
        if x == 2 and not go.is_set():
            started.set()
            go.wait(5)
        drawn.append(x)
        return x

    lab = small(slow)
    other = threading.Thread(target=lambda: lab.set(x=2))
    other.start()
    assert started.wait(5)
    lab.positions = {"x": 0}  # as the page does while the kernel is busy: returns at once
    lab.positions = {"x": 3}
    assert drawn == [1]
    go.set()
    other.join(5)
    assert drawn == [1, 2, 3]
    assert lab.sentence == "x is 3"


def test_controls_refuse_what_makes_no_sense():
    with pytest.raises(ValueError, match="2 to 200 stops, got 1"):
        slider("x", "X", [1], 1)
    with pytest.raises(ValueError, match="2 to 200 stops, got 201"):
        slider("x", "X", range(201), 1)
    with pytest.raises(ValueError, match="5 is none of them"):
        choice("x", "X", {"a": 1, "b": 2}, 5)
    assert isinstance(switch("x", "X"), Control)
    assert slider("x", "X", [None, 1000], None, "ms").texts == ("none", "1\u2009000 ms")
    assert Try("a", {}, "b").label == "a"


def test_steps_are_round_and_keep_both_ends():
    assert steps(1, 10) == [1, 2, 5, 10]
    assert steps(3, 70) == [3, 5, 10, 20, 50, 70]
    with pytest.raises(ValueError, match="last must be at least 5, got 2"):
        steps(5, 2)


@pytest.mark.parametrize("shape", [(1, 1, 3), (7, 5, 4), (480, 1140, 4)])
def test_png_bytes_are_read_back_exactly_by_an_imaging_library(shape):
    picture = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    assert np.array_equal(pixels(png_bytes(picture)), picture[:, :, :3])

"""The batched program against PyTorch's own layers and optimiser, one model at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_networks import X, Y, perceptron, regressor, torch

from steadycv.networks import training
from steadycv.networks.architecture import LINE, Perceptron
from steadycv.networks.modules import Module
from steadycv.networks.tables import Preparation, Table, weighted_scale
from steadycv.networks.training import TrainingSet, models_at_once, train
from steadycv.networks.updating import (
    MEAN,
    RECENT,
    SQUARE,
    TINY,
    WARM,
    Moments,
    Step,
    update_compiled,
    update_on_device,
)

CPU = torch.device("cpu")


def literal(model, X, y):
    """The averaged weights of a network, trained in the plainest way."""
    training_set = model._ready(X, y, None)
    program, run = model._program(training_set), model._run(training_set)
    weights = [p.clone().requires_grad_() for p in program.start(run.seed)]
    groups = [
        {"params": [w], "weight_decay": run.weight_decay * decays}
        for w, decays in zip(weights, program.decays, strict=True)
    ]
    optimizer = torch.optim.AdamW(groups, lr=run.learning_rate, betas=(MEAN, SQUARE), eps=TINY)
    averages = [w.detach().clone() for w in weights]
    numbers, target = (
        torch.from_numpy(training_set.inputs.numbers),
        torch.from_numpy(training_set.target),
    )
    n_batches, n_rows = training_set.shape
    random = np.random.default_rng(run.seed)
    step = 0
    for _ in range(model.epochs):
        order = torch.from_numpy(random.permutation(len(target)))
        for batch in torch.split(order, n_rows):
            step += 1
            state = torch.nn.functional.pad(numbers[batch], (0, program.filled[0] - numbers.shape[1]))
            for i in range(len(model.hidden)):
                new = torch.relu(state @ weights[2 * i] + weights[2 * i + 1])
                state = new if i == 0 else state + new
            outputs = (state @ weights[-2] + weights[-1])[:, 0]
            optimizer.zero_grad()
            (torch.sum((outputs - target[batch]) ** 2) / n_rows).backward()
            for group in optimizer.param_groups:
                group["lr"] = run.learning_rate * min(1, step / WARM)
            optimizer.step()
            for average, w in zip(averages, weights, strict=True):
                average += (1 + RECENT) / (step + RECENT) * (w.detach() - average)
    assert n_batches * model.epochs == step
    return averages


def test_is_what_pytorch_trains():
    model = regressor(epochs=12, batch_size=32, weight_decay=0.5, learning_rate=0.01).fit(X, Y)
    for found, expected in zip(model.network_.parameters, literal(model, X, Y), strict=True):
        assert_allclose(found[0], expected.numpy(), rtol=1e-3, atol=1e-5)


def test_compiled_update_is_the_one_of_the_device():
    random = torch.Generator().manual_seed(0)

    def drawn(*shape):
        return torch.rand(shape, generator=random)

    first = [Moments(*(drawn(3, 5, 7) for _ in range(4))), Moments(*(drawn(3, 1, 7) for _ in range(4)))]
    second = [Moments(*(each.clone() for each in moments)) for moments in first]
    gradients = [drawn(3, 5, 7) - 0.5, drawn(3, 1, 7) - 0.5]
    rates = np.array([0.1, 0.01, 0.001], dtype=np.float32)
    shrinks = [rates * np.float32(0.3), np.zeros_like(rates)]
    step = Step(1.5, 1.2, 0.25)
    update_compiled([[e.flatten(1).numpy() for e in m] for m in first], gradients, rates, shrinks, step)
    update_on_device(second, gradients, rates, shrinks, step)
    for moments, expected in zip(first, second, strict=True):
        for each, other in zip(moments, expected, strict=True):
            assert_allclose(each.numpy(), other.numpy(), rtol=1e-5)


def test_the_program_without_the_compiled_update_trains_the_same(monkeypatch):
    expected = regressor().fit(X, Y).predict(X)

    def slowly(arrays, gradients, *rest):
        moments = [Moments(*map(torch.from_numpy, each)) for each in arrays]
        update_on_device(moments, [each.flatten(1) for each in gradients], *rest)

    monkeypatch.setattr("steadycv.networks.updating.update_compiled", slowly)
    assert_allclose(regressor().fit(X, Y).predict(X), expected, rtol=1e-3)


def training_set(n_rows, batch_size=32, n_columns=3):
    random = np.random.default_rng(0)
    table = Table(random.normal(size=(n_rows, n_columns)), None)
    weight = np.ones(n_rows)
    return TrainingSet(
        Preparation(table, weight, 0).inputs(table),
        random.normal(size=n_rows).astype(np.float32),
        weight.astype(np.float32),
        batch_size,
    )


@pytest.mark.parametrize(
    ("n_rows", "shape"), [(1, (1, 2)), (31, (1, 31)), (32, (1, 32)), (33, (2, 17)), (100, (4, 25))]
)
def test_batches_are_equally_large(n_rows, shape):
    assert training_set(n_rows).shape == shape


def test_an_epoch_sees_every_row_once_and_filling_has_no_weight():
    data = training_set(33)
    rows = training._Rows([training.Run(data, 0.1, 0.0, 0.0, seed) for seed in (0, 1, 0)], CPU)
    seen = [(target, weight) for _, _, target, weight in rows.batches()]
    targets, weights = (torch.cat(parts, dim=1).numpy() for parts in zip(*seen, strict=True))
    assert targets.shape == (3, 34)
    for target, weight in zip(targets, weights, strict=True):
        assert_array_equal(np.sort(target[weight > 0]), np.sort(data.target))
    assert_array_equal(targets[0], targets[2])
    assert not np.array_equal(targets[0], targets[1])


def test_what_drops_out_is_drawn_by_the_seed_alone():
    program = Perceptron(3, (), (5,), 1)
    runs = [
        training.Run(training_set(20), 0.1, 0.0, rate, seed)
        for rate, seed in ((0.5, 0), (0, 0), (0.5, 7))
    ]
    [together] = training._Masks(program, runs, 4, CPU).draw()
    [alone] = training._Masks(program, runs[2:], 4, CPU).draw()
    assert together.shape == (3, 4, LINE)
    assert_array_equal(together[2], alone[0])
    assert_array_equal(together[1], np.ones((4, LINE)))
    assert set(np.unique(together[0])) == {0.0, 2.0}
    assert training._Masks(program, runs[1:2], 4, CPU).draw() is None


def test_a_diverging_model_leaves_its_neighbours_alone():
    program, data = Perceptron(3, (), (8,), 1), training_set(20)
    sound = training.Run(data, 0.01, 0.0, 0.0, 0)
    wild = sound._replace(learning_rate=1e30)
    [(_, alone)] = train(program, "squared_error", 0.5, [sound], [5], CPU)
    [(_, both)] = train(program, "squared_error", 0.5, [wild, sound], [5], CPU)
    assert not all(bool(part[0].isfinite().all()) for part in both)
    for part, expected in zip(both, alone, strict=True):
        assert_array_equal(part[1], expected[0])


def test_chunks_fit_into_memory():
    small, wide = Perceptron(13, (), (64, 64), 1), Perceptron(10_000, (), (64, 64), 1)
    data = training_set(455, batch_size=64)
    assert 8 <= models_at_once(small, data, CPU) <= 64
    assert models_at_once(wide, data, CPU) == 1
    assert models_at_once(Module(perceptron, 13, 1), data, CPU) > 8


def test_filled_units_stay_dead():
    program = Perceptron(3, (), (5, 5), 1)
    [(_, parameters)] = train(
        program, "squared_error", 0.5, [training.Run(training_set(50), 0.1, 0.1, 0.0, 0)], [5], CPU
    )
    for i, part in enumerate(parameters[::2]):
        n_in, n_out = program.widths[i : i + 2]
        assert part[0, :n_in, :n_out].any()
        assert not part[0, n_in:].any()
        assert not part[0, :, n_out:].any()


def test_weighted_scales():
    random = np.random.default_rng(0)
    columns, weight = random.normal(size=(50, 3)), random.integers(0, 4, size=50)
    rows = np.repeat(columns, weight, axis=0)
    centre, scale = weighted_scale(columns, weight)
    assert_allclose(centre, rows.mean(axis=0))
    assert_allclose(scale, rows.std(axis=0))
    _, scale = weighted_scale(np.full((7, 1), 0.1), np.ones(7))
    assert_array_equal(scale, [1.0])
    _, huge = weighted_scale(1e200 * columns, weight)
    assert_allclose(huge, 1e200 * rows.std(axis=0))

"""Policies from state dicts and ONNX files: the actions of PyTorch and of ONNX's reference, and clear errors."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import OptionError, PolicyFileError
from kinetree.learning import load_policy

torch: Any = pytest.importorskip("torch")
X = np.random.default_rng(0).normal(size=(7, 5))


def _net(*activations: Any) -> Any:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(5, 8), torch.nn.ELU(), torch.nn.Linear(8, 6), torch.nn.ELU(), torch.nn.Linear(6, 3)]
    return torch.nn.Sequential(*layers, *activations).double()


def _agrees(loaded: tuple[kt.learning.Policy, np.ndarray], expected: Any) -> None:
    policy, weights = loaded
    assert np.allclose(policy(weights, X), expected.detach().numpy(), rtol=1e-12, atol=1e-13)


def test_state_dicts_and_their_files(tmp_path: Path) -> None:
    net = _net(torch.nn.Tanh())
    expected = net(torch.tensor(X))
    state = net.state_dict()
    _agrees(load_policy(state, "elu", "tanh"), expected)
    torch.save(state, tmp_path / "net.pt")
    _agrees(load_policy(tmp_path / "net.pt", "elu", "tanh"), expected)
    with pytest.raises(OptionError, match="does not contain the activation functions"):
        load_policy(state)


def test_checkpoints_of_rsl_rl(tmp_path: Path) -> None:
    net, critic = _net(), torch.nn.Linear(5, 1)
    mean, std = torch.arange(5.0, dtype=torch.float64), torch.linspace(0.5, 2.0, 5, dtype=torch.float64)
    expected = net((torch.tensor(X) - mean) / (std + 1e-2))
    statistics = {"_mean": mean[None], "_var": (std**2)[None], "_std": std[None], "count": torch.tensor(3)}
    layers, critics = net.state_dict(), {f"critic.{n}": x for n, x in critic.state_dict().items()}
    early = {f"actor.{n}": x for n, x in layers.items()} | critics | {"std": torch.ones(3)}
    late = {f"mlp.{n}": x for n, x in layers.items()} | {"distribution.std_param": torch.ones(3)}
    late |= {f"obs_normalizer.{n}": x for n, x in statistics.items()}
    _agrees(load_policy({"model_state_dict": early, "obs_norm_state_dict": statistics}, "elu"), expected)
    torch.save({"actor_state_dict": late, "critic_state_dict": critic.state_dict(), "iter": 7}, tmp_path / "model_7.pt")
    _agrees(load_policy(tmp_path / "model_7.pt", "elu"), expected)


def test_policies_of_stable_baselines(tmp_path: Path) -> None:
    net = _net()
    names = {"0": "mlp_extractor.policy_net.0", "2": "mlp_extractor.policy_net.2", "4": "action_net"}
    state = {"log_std": torch.zeros(3), "mlp_extractor.value_net.0.weight": torch.zeros(8, 5)}
    state |= {f"{names[n[0]]}{n[1:]}": x for n, x in net.state_dict().items()} | {"value_net.bias": torch.zeros(1)}
    torch.save(state, tmp_path / "policy.pth")
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.write(tmp_path / "policy.pth", "policy.pth")
    for name in ("policy.pth", "model.zip"):
        _agrees(load_policy(tmp_path / name, "elu"), net(torch.tensor(X)))


def test_recurrent_policies() -> None:
    cell, net = torch.nn.GRU(5, 4, num_layers=2).double(), torch.nn.Linear(4, 3).double()
    state = {f"rnn.rnn.{n}": x for n, x in cell.state_dict().items()}
    policy, weights = load_policy(state | {f"mlp.0.{n}": x for n, x in net.state_dict().items()})
    hidden = np.zeros(policy.state_size)
    y = net(cell(torch.tensor(X))[0]).detach().numpy()  # seven steps
    for x, expected in zip(X, y, strict=True):
        action, hidden = policy(weights, x, hidden)
        assert np.allclose(action, expected, rtol=1e-12, atol=1e-13)
    with pytest.raises(PolicyFileError, match="are an LSTM, not a GRU"):
        load_policy(torch.nn.LSTM(5, 4).state_dict())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"2.weight": np.ones((6, 7))}, "'2.weight' takes 7 numbers, and the layer before it gives 8"),
        ({"2.bias": np.ones(5)}, r"bias of '2.weight' has shape \(5,\)"),
        ({"1.weight": np.ones(8)}, "'1.weight' belongs to no layer"),
        ({"4.bias": np.full(3, np.nan)}, "'4.bias' contains NaN"),
        ({"4.bias": "three"}, "'4.bias' is not an array"),
        ({"actor.0.weight": np.ones((3, 5))}, "'0.weight' belongs neither to the policy"),
    ],
)
def test_arrays_that_are_no_layers_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyFileError, match=message):
        load_policy({**{n: x.numpy() for n, x in _net().state_dict().items()}, **change}, "elu")


def test_files_that_are_no_policies(tmp_path: Path) -> None:
    (tmp_path / "text.pt").write_text("hello")
    torch.save({"0.weight": Path("/tmp")}, tmp_path / "code.pt")
    torch.save([1, 2], tmp_path / "list.pt")
    for name, message in (("text.pt", "not a state dict"), ("code.pt", "not a state dict"), ("list.pt", "a list")):
        with pytest.raises(PolicyFileError, match=message):
            load_policy(tmp_path / name, "elu")
    with pytest.raises(PolicyFileError, match="No such file"):
        load_policy(tmp_path / "missing.pt", "elu")


# ONNX


def _onnx(path: Path, nodes: list[tuple[str, list[str], dict[str, Any]]], inputs: tuple[str, ...] = ("x0",)) -> Any:
    """A file of a chain of nodes; the one of number k takes x{k} and gives x{k + 1}."""
    onnx: Any = pytest.importorskip("onnx")
    helper, rng = onnx.helper, np.random.default_rng(1)
    shapes = {"W": (8, 5), "b": (8,), "V": (8, 3), "c": (3,), "m": (5,), "s": (5,)}
    arrays = {name: rng.uniform(0.5, 1.5, shape) for name, shape in shapes.items()}
    made = [
        helper.make_node(kind, names, [f"x{k + 1}"], f"node{k}", **given)
        for k, (kind, names, given) in enumerate(nodes)
    ]
    double = onnx.TensorProto.DOUBLE
    graph = helper.make_graph(
        made,
        "policy",
        [helper.make_tensor_value_info(name, double, [None, 5]) for name in inputs],
        [helper.make_tensor_value_info(f"x{len(nodes)}", double, [None, None])],
        [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    onnx.save(model, path)
    return model


CHAIN: list[tuple[str, list[str], dict[str, Any]]] = [
    ("Sub", ["x0", "m"], {}),
    ("Div", ["x1", "s"], {}),
    ("Gemm", ["x2", "W", "b"], {"transB": 1, "alpha": 0.5, "beta": 2.0}),
    ("Sigmoid", ["x3"], {}),
    ("Mul", ["x3", "x4"], {}),
    ("MatMul", ["x5", "V"], {}),
    ("Add", ["c", "x6"], {}),
    ("Tanh", ["x7"], {}),
]


def test_onnx_files_give_the_actions_of_the_reference(tmp_path: Path) -> None:
    model = _onnx(tmp_path / "policy.onnx", CHAIN)
    from onnx.reference import ReferenceEvaluator

    (expected,) = ReferenceEvaluator(model).run(None, {"x0": X})
    policy, weights = load_policy(tmp_path / "policy.onnx")
    assert (policy.sizes, policy.activation, policy.output, policy.normalize) == ((5, 8, 3), "silu", "tanh", True)
    assert np.allclose(policy(weights, X), expected, rtol=1e-12, atol=1e-13)
    with pytest.raises(OptionError, match="contains its activation functions"):
        load_policy(tmp_path / "policy.onnx", "tanh")


@pytest.mark.parametrize("activation", ["Elu", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus", "Tanh"])
def test_activation_functions_of_onnx(activation: str, tmp_path: Path) -> None:
    nodes: Any = [("Gemm", ["x0", "W"], {"transB": 1}), (activation, ["x1"], {}), ("Gemm", ["x2", "V", "c"], {})]
    model = _onnx(tmp_path / "policy.onnx", nodes)
    from onnx.reference import ReferenceEvaluator

    (expected,) = ReferenceEvaluator(model).run(None, {"x0": X})
    policy, weights = load_policy(tmp_path / "policy.onnx")
    tolerance = 1e-6 if activation in ("Selu", "LeakyRelu") else 1e-12  # ONNX has their constants in float32
    assert np.allclose(policy(weights, X), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([*CHAIN, ("Softmax", ["x8"], {})], r"node 'node8' \(Softmax\)"),
        ([*CHAIN[:3], ("Elu", ["x3"], {"alpha": 0.7})], r"node 'node3' \(Elu\)"),
        ([("Sub", ["m", "x0"], {})], r"node 'node0' \(Sub\)"),
        ([*CHAIN[:4], ("Tanh", ["x4"], {})], r"node 'node4' \(Tanh\)"),
        ([*CHAIN[:2], ("Sub", ["x2", "m"], {})], r"node 'node2' \(Sub\)"),
        ([*CHAIN[:3], ("Gemm", ["x2", "W", "b"], {"transB": 1})], r"node 'node3' \(Gemm\)"),
        ([("Identity", ["x0"], {})], "do not lead"),
    ],
)
def test_nodes_that_are_no_layers_are_named(nodes: Any, message: str, tmp_path: Path) -> None:
    _onnx(tmp_path / "policy.onnx", nodes)
    with pytest.raises(PolicyFileError, match=message):
        load_policy(tmp_path / "policy.onnx")


def test_damaged_onnx_files(tmp_path: Path) -> None:
    model = _onnx(tmp_path / "policy.onnx", CHAIN)
    path = tmp_path / "other.onnx"
    path.write_bytes((tmp_path / "policy.onnx").read_bytes()[:-40])
    with pytest.raises(PolicyFileError, match="not an ONNX file"):
        load_policy(path)
    model.graph.initializer[0].dims[0] = 1 << 40
    path.write_bytes(model.SerializeToString())
    with pytest.raises(PolicyFileError, match="'W' is damaged"):
        load_policy(path)
    model.graph.initializer[0].data_location = 1
    path.write_bytes(model.SerializeToString())
    with pytest.raises(PolicyFileError, match="'W' are in another file"):
        load_policy(path)
    _onnx(path, CHAIN, ("x0", "h"))
    with pytest.raises(PolicyFileError, match="has inputs 'x0', 'h'"):
        load_policy(path)


def test_without_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    (tmp_path / "policy.onnx").write_bytes(b"")
    (tmp_path / "policy.pt").write_bytes(b"")
    for name in ("onnx", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    for name, package in (("policy.onnx", "onnx"), ("policy.pt", "torch")):
        with pytest.raises(kt.errors.MissingPackageError, match=f"need {package}: pip install"):
            load_policy(tmp_path / name)

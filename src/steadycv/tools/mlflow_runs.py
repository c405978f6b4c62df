"""MLflow: a search as a run, with its candidates as runs under it."""

from __future__ import annotations

import math
import warnings
from contextlib import ExitStack
from importlib.metadata import packages_distributions, version
from numbers import Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadycv.report import write_report
from steadycv.summary import model_name
from steadycv.words import setting, value_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadycv.search import StabilitySearchCV

__all__ = ["log_to_mlflow", "reach_mlflow"]

MOST_AT_ONCE = 100  # parameters that a store takes in one go
FIGURES = ("promise", "nested_error", "cv_error", "instability", "stability_weight", "best_score")
N_ROWS = 5  # that tell what a model takes


def log_to_mlflow(
    search: StabilitySearchCV,
    X: Any = None,
    *,
    name: str | None = None,
    data_name: str | None = None,
    model: bool = True,
    max_tuning_runs: int | None = 100,
) -> str:
    """Log a fitted search to MLflow: a run with the promise, the report and the model.

    It goes to the active run, or else to a new one, where ``mlflow.set_tracking_uri`` and
    ``mlflow.set_experiment`` say. Under it there is a run for each candidate. What ``mlflow.autolog()``
    would log of every single fit inside a search is not logged.

    Parameters
    ----------
    search : StabilitySearchCV
        A fitted search.
    X : array-like or data frame, default=None
        Data as the model takes them; the first rows tell MLflow the names and types of the columns.
    name : str, default=None
        What to call a new run. None for the class of the model.
    data_name : str, default=None
        What to call the data in the report.
    model : bool, default=True
        Whether ``best_estimator_`` is logged too; there is none with ``refit=False``. It is saved by
        skops, which has no function that was written in a notebook.
    max_tuning_runs : int or None, default=100
        Of how many candidates, the best ones, there are runs; None for all. All of them are in the
        table ``candidates.csv`` in any case.

    Returns
    -------
    run_id : str
        The run.

    Notes
    -----
    As everywhere, errors are minus the score where a score drives.

    Examples
    --------
    >>> import mlflow  # doctest: +SKIP
    >>> mlflow.set_experiment("diabetes")  # doctest: +SKIP
    >>> run_id = log_to_mlflow(search, X)  # doctest: +SKIP
    >>> mlflow.get_run(run_id).data.metrics["promise"]  # doctest: +SKIP
    4013.0
    """
    mlflow = _import_mlflow()
    check_is_fitted(search)
    if max_tuning_runs is not None and max_tuning_runs < 0:
        raise ValueError(f"max_tuning_runs must be a number from 0 on, or None; got {max_tuning_runs}.")
    with ExitStack() as stack:
        run = mlflow.active_run()
        if run is None:
            run = stack.enter_context(mlflow.start_run(run_name=name or model_name(search)))
        mlflow.log_params(_params(search))
        mlflow.log_metrics(_metrics(search))
        mlflow.set_tags(_tags(search))
        _log_files(mlflow, search, data_name)
        _log_candidates(mlflow, search, run, max_tuning_runs)
        if model and hasattr(search, "best_estimator_"):
            _log_model(mlflow, search, X)
    run_id: str = run.info.run_id
    return run_id


def _params(search: StabilitySearchCV) -> dict[str, str]:
    """What was chosen, and how."""
    how = {"rule": search.rule, "deliver": search.deliver, "cv": search.cv, "scoring": search.scoring}
    chosen = {f"best_{name}": value for name, value in search.best_params_.items()}
    return {name: str(value) for name, value in (chosen | how).items()}


def _metrics(search: StabilitySearchCV) -> dict[str, float]:
    """Whatever is known of what was chosen, in numbers."""
    found = {name: getattr(search, f"{name}_", math.nan) for name in FIGURES}
    if not math.isnan(found["promise"]):
        found["promise_low"], found["promise_high"] = search.promise_interval_
    if search.baseline_ is not None:
        found["baseline_error"] = search.baseline_.error
    found["plain_cv_error"] = search.cv_results_["cv_error"][search.kfold_index_]
    for name, score in getattr(search, "nested_scores_", {}).items():
        found[f"nested_{name}"] = score.steady
    found["n_candidates"], found["n_fits"] = len(search.cv_results_["params"]), search.n_fits_
    return _finite(found)


def _tags(search: StabilitySearchCV) -> dict[str, str]:
    kind = type(search)
    return {
        "estimator_name": kind.__name__,
        "estimator_class": f"{kind.__module__}.{kind.__name__}",
        "promise_reason": getattr(search, "promise_reason_", "there is no promise"),
        "mlflow.note.content": search.summary("markdown"),  # shown on the page of the run
    }


def _log_files(mlflow: Any, search: StabilitySearchCV, data_name: str | None) -> None:
    import pandas as pd  # MLflow needs it, too

    with TemporaryDirectory() as folder:
        write_report(search, Path(folder) / "report.html", data_name=data_name)
        (Path(folder) / "summary.txt").write_text(search.summary(), "utf-8")
        pd.DataFrame(search.cv_results_).to_csv(Path(folder) / "candidates.csv", index=False)
        mlflow.log_artifacts(folder)


def _log_candidates(
    mlflow: Any, search: StabilitySearchCV, parent: Any, max_tuning_runs: int | None
) -> None:
    """A run for each candidate, the best first; without a model, as only one of them has one."""
    client, results = mlflow.MlflowClient(), search.cv_results_
    own = {name: column for name, column in results.items() if not name.startswith(("param", "split"))}
    order = np.argsort(results["rank_regularized_error"], kind="stable")[:max_tuning_runs]
    for candidate in order.tolist():
        params = results["params"][candidate]
        run = client.create_run(
            parent.info.experiment_id,
            tags={"mlflow.parentRunId": parent.info.run_id, "candidate": str(candidate)},
            run_name=setting(params),
        )
        figures = _finite({name: column[candidate] for name, column in own.items()})
        entities = mlflow.entities
        time = run.info.start_time
        texts = [entities.Param(name, str(value)) for name, value in params.items()]
        numbers = [entities.Metric(name, value, time, 0) for name, value in figures.items()]
        for first in range(0, max(len(texts), 1), MOST_AT_ONCE):
            client.log_batch(
                run.info.run_id,
                params=texts[first : first + MOST_AT_ONCE],
                metrics=[] if first else numbers,
            )
        client.set_terminated(run.info.run_id)


def _log_model(mlflow: Any, search: StabilitySearchCV, X: Any) -> None:
    from skops import io  # MLflow saves by it, too

    model = search.best_estimator_
    try:
        # Who logs a model has made it, and knows what it is made of.
        types = io.get_untrusted_types(data=io.dumps(model))
        io.loads(io.dumps(model), trusted=types)
    except Exception as error:  # some object inside may raise anything
        raise ValueError(
            f"All is logged but the model, as skops cannot save {value_text(model)}: {error} Pass it to "
            "mlflow.sklearn.log_model with another format, and call log_to_mlflow(..., model=False)."
        ) from error
    signature = None
    if X is not None:
        signature = mlflow.models.infer_signature(X[:N_ROWS], model.predict(X[:N_ROWS]))
    mlflow.sklearn.log_model(
        model,
        name="model",
        signature=signature,
        pip_requirements=_requirements(types),
        skops_trusted_types=types,
        serialization_format="skops",
    )


def _requirements(types: Sequence[str]) -> list[str]:
    """What it takes to load a model, in the versions that are here; MLflow would try it out."""
    modules = {name.partition(".")[0] for name in types} - {"__main__", "builtins"}
    homes = packages_distributions()
    names = {name for module in modules for name in homes.get(module, [module])}
    names |= {"scikit-learn", "numpy", "scipy", "skops"}
    return [f"{name}=={version(name)}" for name in sorted(names)]


def _finite(figures: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among them that a store takes."""
    return {
        name: float(value)
        for name, value in figures.items()
        if isinstance(value, Real) and math.isfinite(value)
    }


def reach_mlflow() -> None:
    """Refuse a store that is not there before there is anything to log."""
    mlflow = _import_mlflow()
    try:
        mlflow.MlflowClient().search_experiments(max_results=1)
    except mlflow.exceptions.MlflowException as error:
        raise ConnectionError(
            f"MLflow cannot be reached at {mlflow.get_tracking_uri()}: {error}"
        ) from None


def _import_mlflow() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own types, which nobody can do anything about
            import mlflow
            import mlflow.pyfunc
    except ImportError as error:
        raise ImportError("log_to_mlflow needs MLflow: pip install 'steadycv[mlflow]'.") from error
    return mlflow

"""Small raw files in the layout of the real ones, written by the tests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import rdata
from rdata.conversion.to_r import DEFAULT_CLASS_MAP, build_r_object

from steadycv.datasets import catalogue, sources


class Remote:
    """A folder laid out like the addresses of the raw files, in place of the real ones."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self._monkeypatch = monkeypatch
        self.serve_at(folder.as_uri())

    def serve_at(self, url):
        self._monkeypatch.setattr(sources, "RAW_FILES_URL", url)

    def put(self, dataset, *contents):
        """Have files of a data set with these contents; returns the places they get in a data home."""
        names = catalogue.DATASETS[dataset].files
        for name, content in zip(names, contents, strict=True):
            source = replace(sources.SOURCES[name], sha256=hashlib.sha256(content).hexdigest())
            self._monkeypatch.setitem(sources.SOURCES, name, source)
            path = self.folder / source.repository / source.commit / source.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return names


def r_file(folder, **objects):
    """The content of a file of R with these objects."""
    path = folder / "objects.rda"
    rdata.write_rda(path, objects, constructor_dict={**DEFAULT_CLASS_MAP, WithAttributes: _convert})
    return path.read_bytes()


@dataclass
class WithAttributes:
    """An object of R with attributes, such as a class."""

    value: object
    attributes: dict[str, object]


def r_matrix(values, columns, **attributes):
    """A matrix of R whose columns have names."""
    shape = {"dim": np.array(values.shape), "dimnames": [None, np.array(columns)]}
    return WithAttributes(values.ravel(order="F"), {**shape, **attributes})


def r_data_frame(**columns):
    """A data frame of R; a column may be a matrix."""
    n_rows = len(next(iter(columns.values())))
    return WithAttributes(
        list(columns.values()),
        {
            "names": np.array(list(columns)),
            "class": "data.frame",
            "row.names": np.arange(1, n_rows + 1),
        },
    )


def _convert(data, converter):
    plain = converter.convert_to_r_object(data.value)
    return build_r_object(
        plain.info.type,
        value=plain.value,
        is_object="class" in data.attributes,
        attributes=converter.convert_to_r_attributes(data.attributes),
    )

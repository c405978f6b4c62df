"""Where the raw files come from: each at one commit of a public repository, known by its checksum."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

__all__ = ["SOURCES", "Source"]

RAW_FILES_URL = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class Source:
    """One raw file.

    Attributes
    ----------
    repository : str
        Owner and name of the repository on GitHub.
    commit : str
        The commit at which the file is fetched.
    path : str
        The file within the repository.
    sha256 : str
        Checksum of the file's bytes.
    licence : str
        What the repository states; for an R package, the licence of the whole package.
    """

    repository: str
    commit: str
    path: str
    sha256: str
    licence: str

    @property
    def name(self) -> str:
        """The file's place below a data home."""
        return f"{self.repository}/{self.path}"

    @property
    def url(self) -> str:
        """The address that the file is fetched from."""
        return f"{RAW_FILES_URL}/{self.repository}/{self.commit}/{quote(self.path)}"


_NONE_STATED = "none stated in the repository (data of the UCI Machine Learning Repository)"

# repository, commit, licence as stated there, and the checksum of each file
_REPOSITORIES = (
    (
        "jbrownlee/Datasets",
        "d20fcb6402ae34e653d4513b00f39257bb37ed7f",
        _NONE_STATED,
        {
            "winequality-red.csv": "c9614512e980f1cbd221c796daa97f00c4898c3cd1716863abac60f6cd1a522e",
            "winequality-white.csv": "659d419fff887f225bf977d20520bb64a64cae203e460087f809721d4430ba27",
            "housing.data": "e3e36f7b9e5435f9eb8320e106aebad00031fefa3064527da0c71dec59e49b76",
        },
    ),
    (
        "spradh/510-Project",
        "99c5ca0bfdba371c5d5ecc9bf35ff12e997025c3",
        _NONE_STATED,
        {
            "Linear-Regression/auto-mpg.data": (
                "48b830e11feee5572525f8f1691ddb9d38d3d7b7063edcd8fca672c2a5e17d8d"
            )
        },
    ),
    (
        "prajjwaldangal/servo-data",
        "3b188b0742fa8003b818b7aec9eb67dbc384e0b4",
        _NONE_STATED,
        {"servo.data": "f1d383dbb72bafd82df227483f7de3dd0a06cbd6a6329f91d656babe400f4acf"},
    ),
    (
        "cran/ISLR",
        "b72e0cec2b394ac340680fe19fa0b8e7d10e07ab",
        "GPL-2",
        {"data/Hitters.rda": "fb6658c1063f0587caf55eba971141c6914b1c5b187ce2ab713af88f55aa62b5"},
    ),
    (
        "cran/ncvreg",
        "b84f0324753ca41389c0ca19c76253a9dc6531c2",
        "GPL-3",
        {"data/Prostate.rda": "ebf0a3ec23e72583f1a3f30521d6c8eff97de2aacbb23363ae98fd36690770b3"},
    ),
    (
        "cran/robustbase",
        "db82a3e4dbf8e0619bf71d6854c2551e2d86bede",
        "GPL (>= 2)",
        {
            "data/toxicity.rda": "50fdfe07c5f754629e0ae912094d23a5696a12404db28aeeb86c082d4ab16792",
            "data/steamUse.rda": "c21dcb739dd40f8cfa4e30e49c021b3f545cd4b9c7f05f627cb5bff9e814e525",
            "data/alcohol.rda": "873d2359fe6043b09e24f187d9d854b131b3007996d368d45f7331473b45e80f",
        },
    ),
    (
        "cran/robustHD",
        "4ff3b95281b44c82c8fc456209456f400dac211c",
        "GPL (>= 2)",
        {"data/TopGear.RData": "2e4a26cfb81ed2a28f3239bf3861c00fc4594087de829544d6de8a9b8a955a30"},
    ),
    (
        "cran/flare",
        "84c4e9f581ca3aea4670b579887a49a163fe9bfb",
        "GPL-2",
        {"data/eyedata.rda": "2b15827ead1923cc619fdf9b65dfd81b9fbd440d58f1b7d008b24bcc2fdbb2a8"},
    ),
    (
        "cran/cellWise",
        "2d8d62a07c275e9d44c1320f05f9a6cb0ff777f6",
        "GPL (>= 2)",
        {"data/data_glass.rdata": "37eb7dccc76d4a17d03fe06688d1db1e0f5a3042f832567e344e06fe93ead58e"},
    ),
    (
        "cran/chemometrics",
        "5d3d7f76325ec2e0bba93cba13429cec8c1482fc",
        "GPL (>= 3)",
        {"data/glass.rda": "1ddb83794bfe6754751e11097f3a84dfdd577fbfbfaae919ab7c483746ed6ffc"},
    ),
    (
        "cran/hdi",
        "3eb71fb52b3c0f5213b1283d5f0317b91f6a133a",
        "GPL",
        {"data/riboflavin.RData": "ff5c2257a46367992cfb329041ffb5fef77663761811fef8c55043c274d8d2c5"},
    ),
)

SOURCES: dict[str, Source] = {
    source.name: source
    for repository, commit, licence, files in _REPOSITORIES
    for source in (Source(repository, commit, path, sha256, licence) for path, sha256 in files.items())
}

"""`npurun import --verify`: what bash makes of the script, beside what the import makes of it."""

from submitter.importer.verify.commands import Normalised, normalised
from submitter.importer.verify.compare import Difference, compare
from submitter.importer.verify.recording import Recorded, Recording, exported, launches, submitted
from submitter.importer.verify.sandbox import SandboxError, record

__all__ = [
    "Difference",
    "Normalised",
    "Recorded",
    "Recording",
    "SandboxError",
    "compare",
    "exported",
    "launches",
    "normalised",
    "record",
    "submitted",
]

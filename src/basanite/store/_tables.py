"""The tables, as SQLAlchemy Core sees them; SQLite and PostgreSQL get the same."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Column,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

FORMAT = 1
"""Version of the tables below; a database with a higher one is refused."""

_metadata = MetaData()

# SQLite numbers rows by itself only in a column of exactly this type.
_Sequence = BigInteger().with_variant(Integer(), "sqlite")
# Names compare byte by byte everywhere: PostgreSQL's default order depends on the locale.
_Name = Text().with_variant(Text(collation="C"), "postgresql")

formats = Table(
    "basanite_formats",
    _metadata,
    Column("part", _Name, primary_key=True),
    Column("version", Integer, nullable=False),
)

records = Table(
    "basanite_records",
    _metadata,
    Column("run", _Name, nullable=False),
    Column("kind", _Name, nullable=False),
    Column("key", _Name, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("seq", _Sequence, Identity(), primary_key=True),
    UniqueConstraint("run", "kind", "key"),
    Index("basanite_records_in_order", "run", "kind", "seq"),
)

replies = Table(
    "basanite_replies",
    _metadata,
    Column("key", _Name, primary_key=True),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)

profiles = Table(
    "basanite_profiles",
    _metadata,
    Column("namespace", _Name, primary_key=True),
    Column("key", _Name, primary_key=True),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class TableSet:
    """Tables that belong together and share a format version."""

    part: str
    """Their name in `basanite_formats`."""
    what: str
    """What a person calls a database that holds them."""
    tables: tuple[Table, ...]


LEDGER_TABLES = TableSet("ledger", "ledger", (formats, records))
CACHE_TABLES = TableSet("cache", "reply cache", (formats, replies, profiles))

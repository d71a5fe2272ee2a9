"""Tables in Parquet files: read in batches of records, looked up as codes, counted a block at a time."""

from dpbayes.sources.engines.parquet.table import ParquetFiles

__all__ = ["ParquetFiles"]

"""Spark on this machine: two executors, workers and executors that die, and Connect."""

import os
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from flipset.clusters.batches import make_job
from flipset.clusters.frames import _each, summarize_spark
from tests.clusters.tables import expected, explain_and_die, explainer, model, same, table

pytestmark = [
    pytest.mark.clusters,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:Failed to set spark:UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ROOT = Path(__file__).parent.parent.parent


def session(master: str) -> Any:
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": str(ROOT),
        "spark.log.level": "ERROR",
    }
    builder = sql.SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    running = session("local-cluster[2,1,1024]")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    return spark.createDataFrame(pa.Table.from_pandas(table(), preserve_index=False)).repartition(16)


def test_two_executors_say_what_explain_table_says(frame: Any) -> None:
    lazy = explainer().explain_spark(frame).persist()
    same(lazy.toArrow().to_pandas())
    assert summarize_spark(lazy) == expected().summary()
    assert summarize_spark(lazy, "region") == expected().summary_by(table()["region"])
    lazy.unpersist()


@pytest.mark.parametrize("which", ["worker", "executor"])
def test_a_death_in_mid_run_changes_nothing(frame: Any, tmp_path: Path, which: str) -> None:
    lazy = explainer().explain_spark(frame)
    job = make_job(explainer(), frame.columns, None, {})
    dying = partial(_each, partial(explain_and_die, job, str(tmp_path), which))
    same(frame.mapInArrow(dying, lazy.schema).toArrow().to_pandas())
    assert (tmp_path / which).exists()  # somebody died


def test_the_code_of_the_how_to_runs(spark: Any, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "howto" / "clusters.md").read_text(encoding="utf-8")
    block = re.findall(r"## Spark\n.*?```python\n(.*?)```", text, flags=re.DOTALL)[0]
    block = block.replace("/models/loans.ubj", str(model())).replace("/data", str(tmp_path))
    few = table().head(50).rename(columns={"id": "loan_id"})
    few.to_parquet(tmp_path / "loans", index=False)
    exec(compile(block, "clusters.md", "exec"), {"spark": spark, "space": explainer().space})
    assert spark.read.parquet(str(tmp_path / "advice")).count() == 50


def test_over_spark_connect_in_a_process_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("grpc")
    import subprocess

    script = tmp_path / "connect.py"
    script.write_text(
        "import os, sys\nimport pyarrow as pa\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        f"os.environ['PYTHONPATH'] = {str(ROOT)!r}\n"
        "os.environ['PYSPARK_PYTHON'] = sys.executable\n"
        "from pyspark.sql import SparkSession\n"
        "from tests.clusters.tables import explainer, same, table\n"
        "if __name__ == '__main__':\n"
        "    builder = SparkSession.builder.config('spark.connect.grpc.binding.address', '127.0.0.1')\n"
        "    spark = builder.remote('local[2]').getOrCreate()\n"
        "    few = pa.Table.from_pandas(table().head(300), preserve_index=False)\n"
        "    few = spark.createDataFrame(few).repartition(4)\n"
        "    same(explainer().explain_spark(few).toArrow().to_pandas(), 300)\n"
        "    print('the same', type(few).__module__)\n"
        "    spark.stop()\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=ROOT)
    assert "the same pyspark.sql.connect" in done.stdout, done.stderr[-2000:]

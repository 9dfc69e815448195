"""What a commit costs over distances between the databases: the app machines are beside the one that is written to."""

import contextlib

import report
from fleet import Fleet
from load import Load

# Round trips between the database that is written to and each of the others, in milliseconds; twice that between these.
DISTANCES = (0, 0.2, 2, 20)
COMMITS, SWAPS = 500, 200

PROCEDURE = """
DELIMITER //
CREATE OR REPLACE PROCEDURE drill.commits(IN count INT)
BEGIN
    DECLARE began DATETIME(6);
    CREATE OR REPLACE TEMPORARY TABLE drill.times (microseconds INT);
    WHILE count > 0 DO
        SET began = SYSDATE(6), count = count - 1;
        INSERT INTO drill.rows (text) VALUES ('one row');
        INSERT INTO drill.times VALUES (TIMESTAMPDIFF(MICROSECOND, began, SYSDATE(6)));
    END WHILE;
    SELECT microseconds FROM drill.times ORDER BY microseconds;
END //
DELIMITER ;
CREATE TABLE IF NOT EXISTS drill.rows (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, text TEXT) ENGINE = InnoDB
"""


def measure(fleet: Fleet) -> None:
    writer, *others = fleet.cluster.nodes
    writer.sql(PROCEDURE)
    lines = []
    for distance in DISTANCES:
        with contextlib.ExitStack() as stack:
            for node in others if distance else ():
                stack.enter_context(node.host.delayed(distance / 2 / 1000))
            echo = writer.host.echo(others[0].host.address)
            commits = [int(time) / 1000 for (time,) in writer.sql(f"CALL drill.commits({COMMITS})")]
            with Load(fleet, clients=1, mix={"swap": 1}, repeats=0) as load:
                load.wait_for_traffic(SWAPS * 3)
        swaps = sorted(1000 * (exchange.ended - exchange.began) for exchange in load.record.exchanges
                       if exchange.kind == "swap" and exchange.failure is None)
        lines.append((f"{distance:g}", f"{echo:.2f}", *(f"{report.percentile(times, share):.1f}"
                                                         for times in (commits, swaps) for share in (0.5, 0.99))))
    report.table(("distance ms", "echo ms", "commit p50 ms", "commit p99 ms", "swap p50 ms", "swap p99 ms"), lines)

CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    owner TEXT NOT NULL,
    seq INTEGER NOT NULL,
    head INTEGER,
    append_id TEXT NOT NULL,
    wake_at INTEGER
  ) STRICT;
CREATE INDEX scope_wake ON scope (wake_at) WHERE wake_at IS NOT NULL;
CREATE TABLE append (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    before INTEGER,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    append_id TEXT NOT NULL,
    wake_at INTEGER,
    lines TEXT NOT NULL
  ) STRICT;
CREATE TABLE mark (upto INTEGER NOT NULL) STRICT;
CREATE TABLE finished (
    scope INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, kind, id)
  ) STRICT, WITHOUT ROWID;
INSERT INTO scope VALUES (1, 'session:a', 2, 'node:2', 2, 1, '1:1', NULL);
INSERT INTO scope VALUES (2, 'session:b', 1, 'node:2', 1, 2, '1:1', 1000);
INSERT INTO append VALUES (1, 1, NULL, 1, 2, '1:1', NULL, '{"seq":1}
{"seq":2}
');
INSERT INTO append VALUES (2, 2, NULL, 1, 1, '1:1', 1000, '{"seq":1}
');
INSERT INTO append VALUES (3, 1, 1, 3, 3, '2:3', 2000, '{"seq":3}
');
INSERT INTO append VALUES (4, 2, 2, 2, 4, '1:2', NULL, '{"seq":2}
{"seq":3}
{"seq":4}
');
INSERT INTO mark VALUES (2);
INSERT INTO finished VALUES (1, 'request', 'r''1', 3);
PRAGMA user_version = 1;

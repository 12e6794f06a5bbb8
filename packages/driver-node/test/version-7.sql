CREATE TABLE append (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    before INTEGER,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    append_id TEXT NOT NULL,
    wake_at INTEGER,
    lines TEXT NOT NULL
  , finished TEXT) STRICT;
CREATE TABLE mark (upto INTEGER NOT NULL) STRICT;
CREATE TABLE finished (
    scope INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, kind, id)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE instance (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    until INTEGER,
    ttl INTEGER NOT NULL DEFAULT 0,
    address TEXT,
    process TEXT
  ) STRICT;
CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0,
    owner INTEGER,
    protocol INTEGER NOT NULL DEFAULT 0,
    seq INTEGER NOT NULL DEFAULT 0,
    head INTEGER,
    append_id TEXT NOT NULL DEFAULT '',
    wake_at INTEGER
  , approvals INTEGER) STRICT;
CREATE INDEX scope_wake ON scope (wake_at) WHERE wake_at IS NOT NULL;
CREATE TABLE letter (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target INTEGER NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    link INTEGER NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (target, source, kind, link, number)
  ) STRICT;
CREATE TABLE chain (scope INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE TABLE snapshot (
    scope INTEGER PRIMARY KEY,
    row INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
CREATE TABLE segment (
    scope INTEGER PRIMARY KEY,
    base INTEGER NOT NULL,
    hash TEXT NOT NULL,
    snapshot TEXT NOT NULL
  ) STRICT;
CREATE TABLE kept (
    scope INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (scope, seq)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE move (
    scope TEXT NOT NULL,
    nonce TEXT NOT NULL,
    epoch INTEGER,
    PRIMARY KEY (scope, nonce)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE secret (
    scope TEXT NOT NULL,
    kid TEXT NOT NULL,
    secret TEXT NOT NULL,
    PRIMARY KEY (scope, kid, secret)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX scope_approvals ON scope (name) WHERE approvals > 0;
INSERT INTO append (id, scope, before, first, last, append_id, wake_at, lines, finished) VALUES (1, 1, NULL, 1, 2, '1:1', 2000, '{"seq":1}
{"seq":2}
', NULL);
INSERT INTO mark (upto) VALUES (0);
INSERT INTO instance (id, name, until, ttl, address, process) VALUES (1, 'old', NULL, 1000, NULL, NULL);
INSERT INTO scope (id, name, epoch, owner, protocol, seq, head, append_id, wake_at, approvals) VALUES (1, 'session:a', 1, 1, 1, 0, NULL, '', NULL, NULL);
PRAGMA user_version = 7;

-- Requests of a UTC day by caller and surface. `day` counts from the Unix epoch; `kind` is 0 for a key, 1 for an alias, 2 for an
-- origin, and `id` is the number of it. Of `requests`, `rate_limited` were answered 429 and `failed` with another error.
CREATE TABLE usage_day (
    account      BIGINT NOT NULL,
    day          BIGINT NOT NULL,
    kind         BIGINT NOT NULL,
    id           BIGINT NOT NULL,
    surface      TEXT   NOT NULL,
    requests     BIGINT NOT NULL,
    rate_limited BIGINT NOT NULL,
    failed       BIGINT NOT NULL,
    PRIMARY KEY (account, day, kind, id, surface)
);

CREATE INDEX usage_day_day ON usage_day (day);

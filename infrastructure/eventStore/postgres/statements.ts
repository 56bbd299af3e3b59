// The reading SQL of the event store. Limits and categories are literals: a plan for an unknown limit may prefer to sort the whole
// table, and only literal categories show the planner that the partial index applies.
import type { CategoryFilter } from './categoryFilter.ts';

const COLUMNS = 'position, stream, revision, id, type, data, metadata, recorded_at';

export const HEAD_TEXT = 'SELECT coalesce(max(position), 0) FROM event_store.events';

export const STORE_TEXT = 'SELECT id, use, other_id, other_address FROM event_store.store';

/** $1 stream, $2 first revision, $3 events at most. */
export const STREAM_PAGE_TEXT = `SELECT ${COLUMNS} FROM event_store.events
  WHERE stream = $1 AND revision >= $2 ORDER BY revision LIMIT $3`;

/** $1 streams, $2 first revisions, $3 events of a stream at most. A row: the number of the stream in $1, from 1, and an event. */
export const STREAM_PAGES_TEXT = `SELECT wanted.number, page.*
  FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY wanted(stream, first, number)
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM event_store.events e
    WHERE e.stream = wanted.stream AND e.revision >= wanted.first ORDER BY e.revision LIMIT $3
  ) page
  ORDER BY wanted.number, page.revision`;

/** $1 exclusive position. */
export const wholePageText = (limit: number): string => `SELECT ${COLUMNS} FROM event_store.events
  WHERE position > $1 ORDER BY position LIMIT ${limit}`;

/**
 * $1 exclusive position. Rows are the head and then an event's columns, which are null in one row when nothing matches. Page and head
 * come from one statement, so from one snapshot: what lies between the last match and the head holds no match.
 */
export const filteredPageText = ({ literals, windowPlaces }: CategoryFilter, limit: number): string => {
  const window = windowPlaces === null ? '' : `AND position <= $1 + ${windowPlaces}`;
  return `SELECT head.place, page.*
    FROM (SELECT coalesce(max(position), 0) AS place FROM event_store.events) head
    LEFT JOIN LATERAL (
      SELECT ${COLUMNS} FROM event_store.events
      WHERE position > $1::bigint ${window} AND category IN (${literals}) ORDER BY position LIMIT ${limit}
    ) page ON true
    ORDER BY page.position`;
};

// A subscription's categories, as SQL and as a test in memory. Both must agree with the generated column `category`.
import { RARE_CATEGORIES } from '../../../domain/aggregates.ts';
import { readStreamName } from '../../../domain/kernel/event.ts';
import { checkCategories } from '../subscribeOptions.ts';

export interface CategoryFilter {
  /** Names a prepared statement: equal for equal filters. */
  readonly key: string;
  /** Literals of an IN list. Literals, not a parameter: only then does the planner see that the partial index applies. */
  readonly literals: string;
  /** How many positions one page may pass over; null where an index leads straight to the next match. */
  readonly windowPlaces: number | null;
  readonly matches: (stream: string) => boolean;
}

/** Those of the index `events_of_rare_categories`. */
const RARE: ReadonlySet<string> = new Set(RARE_CATEGORIES);
/** Some 20 ms of scanning: the statement stays short however rare the matches are. */
const WINDOW_PLACES = 20_000;

/** null stays null: all categories. Throws RangeError on a name that no stream can have, or on none at all. */
export const categoryFilter = (categories: readonly string[] | null): CategoryFilter | null => {
  if (categories === null) return null;
  const names = checkCategories(categories);
  const wanted = new Set(names);
  return {
    key: names.join('_'),
    literals: names.map((name) => `'${name}'`).join(', '),
    windowPlaces: names.every((name) => RARE.has(name)) ? null : WINDOW_PLACES,
    matches: (stream) => wanted.has(readStreamName(stream).category),
  };
};

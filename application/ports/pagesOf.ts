/**
 * Reads rows in key order, `limit` at a time, until a page is shorter. Yields the items that `itemsOf` makes from each page. `read` gets
 * the last row of the previous page, or null at first, and must return the rows after it.
 */
export async function* pagesOf<Row, Item>(
  limit: number,
  read: (last: Row | null) => Promise<{ readonly rows: readonly Row[] }>,
  itemsOf: (rows: readonly Row[]) => readonly Item[],
): AsyncGenerator<readonly Item[], void> {
  for (let last: Row | null = null; ; ) {
    const { rows }: { readonly rows: readonly Row[] } = await read(last);
    yield itemsOf(rows);
    last = rows.at(-1) ?? null;
    if (last === null || rows.length < limit) return;
  }
}

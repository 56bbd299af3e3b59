/**
 * Reads rows in the order of their key, `limit` at a time, until a page is shorter, and yields what `itemsOf` makes of each page. `read`
 * gets the last row of the page before, from which it takes the key to go on after; null at first.
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

// Lists of work in which a failure must not keep the rest from being done.

/** Does the work for each item in turn, even if it fails for some. Throws the first error at the end. */
export const eachInTurn = async <Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> => {
  let failure: { readonly error: unknown } | null = null;
  for (const item of items)
    try {
      await work(item);
    } catch (error) {
      failure ??= { error };
    }
  if (failure !== null) throw failure.error;
};

// Lists of work in which a failure must not keep the rest from being done.

/** Throws the first of the errors, if there is one: after work that went on despite them. */
export const throwFirst = (errors: readonly unknown[]): void => {
  if (errors.length > 0) throw errors[0];
};

/** Does the work for each item in turn, even if it fails for some. Throws the first error at the end. */
export const eachInTurn = async <Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> => {
  const errors: unknown[] = [];
  for (const item of items) await work(item).catch((error: unknown) => errors.push(error));
  throwFirst(errors);
};

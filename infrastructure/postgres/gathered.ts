// Statements of several callers that go to the server as one.

/** Values by key. */
export type Gathered<Value> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

/** Returns a function that reads the keys of all its calls in one turn of the event loop with one call of `read`. */
export const gatheredReads = <Value>(read: Gathered<Value>): Gathered<Value> => {
  let turn: { readonly keys: Set<string>; readonly result: ReturnType<Gathered<Value>> } | null = null;
  return (keys) => {
    turn ??= begin();
    for (const key of keys) turn.keys.add(key);
    return turn.result;
  };
  function begin() {
    const keys = new Set<string>();
    const result = new Promise<ReadonlyMap<string, Value>>((resolve) => {
      setImmediate(() => {
        turn = null;
        resolve(read([...keys]));
      });
    });
    return { keys, result };
  }
};

interface Bounds {
  /** Calls of `write` at the same time. */
  readonly atOnce: number;
  /** Items of a call of `write`, unless a single caller brings more. */
  readonly itemsMax: number;
}

interface Waiting<Item> {
  readonly items: readonly Item[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that writes items. While as many writes as allowed are in progress, further callers wait, and are then written
 * together. If such a write fails, each of its callers is written alone, so that only the cause fails.
 */
export const groupedWrites = <Item>(
  write: (items: readonly Item[]) => Promise<void>,
  { atOnce, itemsMax }: Bounds,
): ((items: readonly Item[]) => Promise<void>) => {
  const waiting: Waiting<Item>[] = [];
  let writers = 0;
  const take = (): readonly Waiting<Item>[] => {
    let items = 0;
    const end = waiting.findIndex((one, index) => {
      items += one.items.length;
      return index > 0 && items > itemsMax;
    });
    return waiting.splice(0, end === -1 ? waiting.length : end);
  };
  const writeAll = async (group: readonly Waiting<Item>[]): Promise<void> => {
    try {
      await write(group.flatMap(({ items }) => items));
      for (const { resolve } of group) resolve();
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else await Promise.all(group.map((one) => writeAll([one])));
    }
  };
  const work = async (): Promise<void> => {
    writers++;
    while (waiting.length > 0) await writeAll(take());
    writers--;
  };
  return (items) =>
    new Promise((resolve, reject) => {
      waiting.push({ items, resolve, reject });
      if (writers < atOnce) void work();
    });
};

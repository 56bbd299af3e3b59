// Suggests the name that a mistyped word probably meant.

/** Optimal string alignment distance: letters inserted, deleted, changed, or swapped with their neighbour. */
const distance = (a: string, b: string): number => {
  let [older, old]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min(
        (old[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (old[j - 1] as number) + (isSame ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (older[j - 2] as number) + 1);
      row.push(least);
    }
    [older, old] = [old, row];
  }
  return old[b.length] as number;
};

/** The largest distance that still counts as a typo. Longer words allow more. */
const distanceMax = (name: string): number => Math.max(1, Math.floor(name.length / 3));

const WORD_LENGTH_MAX = 100;

/** Returns the distance, or null if the words are too different. */
const costOf = (typed: string, spelled: string): number | null => {
  if (typed.length > WORD_LENGTH_MAX) return null;
  const name = spelled.toLowerCase();
  if (typed.length > 1 && name.startsWith(typed)) return 0;
  const cost = distance(typed, name);
  return cost <= distanceMax(name) ? cost : null;
};

const sumOf = (costs: readonly (number | null)[]): number | null =>
  costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0);

const cheapest = (names: readonly string[], cost: (name: string) => number | null): string | null => {
  const near = names.flatMap((name) => {
    const known = cost(name);
    return known === null ? [] : [{ name, known }];
  });
  return near.toSorted((a, b) => a.known - b.known)[0]?.name ?? null;
};

/** Returns the name nearest to the typed word, or null if none is near. The part of a name after its slash is enough. */
export const meant = (typed: string, names: readonly string[]): string | null => {
  const cost = (part: (name: string) => string) => cheapest(names, (name) => costOf(typed.toLowerCase(), part(name)));
  return cost((name) => name) ?? cost((name) => name.replace(/^.*\//, ''));
};

/** Returns the commands that the words probably mean. The words may be in reverse order, or be only one word of the name. */
export const meantCommands = (words: readonly string[], names: readonly string[]): readonly string[] => {
  const typed = words.flatMap((word) => word.toLowerCase().split(/[-_:./]/)).filter((word) => word !== '');
  const whole = cheapest(names, (name) => {
    const parts = name.split(' ');
    const [there, back] = [parts, parts.toReversed()].map((order) =>
      sumOf(order.map((part, i) => (typed[i] === undefined ? null : costOf(typed[i], part)))),
    );
    return there ?? back ?? null;
  });
  if (whole !== null) return [whole];
  const part = meant(
    typed[0] ?? '',
    names.flatMap((name) => name.split(' ')),
  );
  return part === null ? [] : names.filter((name) => name.split(' ').includes(part));
};

// A fair line for slow work: the caller that was served least recently comes next. Each request stands for an
// e-mail address and for a network address. Guesses for one user from many addresses wait for each other, and so do guesses for many users
// from one address; a user's own request, from an address that did not guess, comes before the guesses for the same user.
import { LRUCache } from 'lru-cache';
import type { PasswordAsker } from '../../application/ports/credentials.ts';

interface Waiting {
  readonly names: readonly string[];
  /** How many had been served when it came. */
  readonly arrived: number;
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** Names that are remembered: those served last. A forgotten one counts as new. */
const REMEMBERED = 10_000;

const namesOf = ({ email, address }: PasswordAsker): readonly string[] => [
  `email ${email.toLowerCase()}`,
  ...(address === null ? [] : [`address ${address}`]),
];

type FairLine = <T>(asker: PasswordAsker, work: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs `atOnce` works at a time. Beyond `waitingMax` works in line, the latest one of the name with the most works
 * in line is refused: its promise rejects with what `refusal` returns.
 */
export const fairLine = (atOnce: number, waitingMax: number, refusal: () => Error): FairLine => {
  /** In the order of arrival. */
  const waiting: Waiting[] = [];
  const lastServed = new LRUCache<string, number>({ max: REMEMBERED });
  let running = 0;
  let served = 0;

  const timesOf = ({ names }: Waiting): readonly number[] => names.map((name) => lastServed.get(name) ?? 0);
  /** Who waits since before the last turn of its names comes before those who had a turn; among equals, whose other name is newer. */
  const isBefore = (a: Waiting, b: Waiting): boolean => {
    const [ofA, ofB] = [timesOf(a), timesOf(b)];
    const byTurn = Math.max(a.arrived, ...ofA) - Math.max(b.arrived, ...ofB);
    return (byTurn || ofA.reduce((sum, time) => sum + time, 0) - ofB.reduce((sum, time) => sum + time, 0)) < 0;
  };
  const serveNext = (): void => {
    const next = waiting.reduce<Waiting | null>(
      (best, one) => (best === null || isBefore(one, best) ? one : best),
      null,
    );
    if (next === null) {
      running -= 1;
      return;
    }
    waiting.splice(waiting.indexOf(next), 1);
    begin(next);
  };
  const begin = (one: Pick<Waiting, 'names' | 'begin'>): void => {
    served += 1;
    for (const name of one.names) lastServed.set(name, served);
    one.begin();
  };
  const refuseOne = (): void => {
    const counts = new Map<string, number>();
    for (const { names } of waiting) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    const shareOf = ({ names }: Waiting): number => Math.max(...names.map((name) => counts.get(name) as number));
    const worst = waiting.reduce((a, b) => (shareOf(b) >= shareOf(a) ? b : a));
    waiting.splice(waiting.indexOf(worst), 1);
    worst.refuse();
  };

  return async (asker, work) => {
    const names = namesOf(asker);
    if (running < atOnce) {
      running += 1;
      begin({ names, begin: () => undefined });
    } else {
      await new Promise<void>((resolve, reject) => {
        waiting.push({ names, arrived: served, begin: resolve, refuse: () => reject(refusal()) });
        if (waiting.length > waitingMax) refuseOne();
      });
    }
    try {
      return await work();
    } finally {
      serveNext();
    }
  };
};

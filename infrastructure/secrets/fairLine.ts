// A fair queue for slow work: the caller that was served least recently comes next. Each request counts for an email address and for a
// network address. Guesses for one user from many addresses wait for each other, and so do guesses for many users from one address. A
// user's own request, from an address that did not guess, comes before the guesses for the same user.
import { boundedCache } from '../../application/ports/boundedCache.ts';
import type { PasswordAsker } from '../../application/ports/logins.ts';

interface Waiting {
  readonly names: readonly string[];
  /** Number of requests served before this one arrived. */
  readonly arrived: number;
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** Number of names that are remembered: the most recently served. A forgotten name counts as new. */
const REMEMBERED = 10_000;

const namesOf = ({ email, address }: PasswordAsker): readonly string[] => [
  `email ${email.toLowerCase()}`,
  ...(address === null ? [] : [`address ${address}`]),
];

type FairLine = <T>(asker: PasswordAsker, work: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs at most `atOnce` tasks at a time. If more than `waitingMax` wait, it rejects the latest task of the name
 * with the most waiting tasks. The task's promise then rejects with the result of `refusal`.
 */
export const fairLine = (atOnce: number, waitingMax: number, refusal: () => Error): FairLine => {
  /** In the order of arrival. */
  const waiting: Waiting[] = [];
  const lastServed = boundedCache<string, number>(REMEMBERED);
  let running = 0;
  let served = 0;

  const timesOf = ({ names }: Waiting): readonly number[] => names.map((name) => lastServed.get(name) ?? 0);
  /** Orders by the later of its arrival and its names' last turns; on a tie, by the sum of its names' last turns. */
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

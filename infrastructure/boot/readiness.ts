// Ready means: can append, can read, lag of every follower below 5 s, wherever it runs (architecture §9). The reasons are read by anybody:
// they name no address.
import { withTimeout } from '../waiting.ts';
import type { Gateway } from './composition.ts';
import type { Storage } from './storage.ts';

const LAG_MS_MAX = 5_000;
const ANSWER_MS_MAX = 2_000;

const NO_ANSWER: unique symbol = Symbol('no answer');
type NoAnswer = typeof NO_ANSWER;

/** A rejection is no answer either. */
const inTime = <T>(work: Promise<T>): Promise<T | NoAnswer> =>
  withTimeout(work, ANSWER_MS_MAX, () => new Error('no answer')).catch((): NoAnswer => NO_ANSWER);

/** null: ready. */
export const unreadiness = async (
  { store, reads }: Storage,
  { projected, reacted, projector, reactor, clockFault }: Gateway,
  lagMsMax = LAG_MS_MAX,
): Promise<string | null> => {
  const refusal = await inTime(store.head().then(() => store.refusal()));
  if (refusal === NO_ANSWER) return 'the event store does not answer';
  if (refusal !== null) return 'the event log takes no events: it was sealed or moved';
  if ((await inTime(reads.query('SELECT 1'))) === NO_ANSWER) return 'the database does not answer';
  const clock = clockFault();
  if (clock !== null) return clock;
  const [fault] = [...(projector?.faults() ?? []), ...(reactor?.faults() ?? [])];
  if (fault) return `${fault.name} has stopped`;
  const still = [...projected.standingStill(lagMsMax), ...reacted.standingStill(lagMsMax)];
  return still.length === 0 ? null : `behind the log: ${still.join(', ')}`;
};

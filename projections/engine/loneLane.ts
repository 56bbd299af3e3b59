// A follower that can't go on with the others, or is behind them, on a subscription of its own: it parks what it can't take, waits while
// it fails as a whole, and joins the others when it is level with them.
import type { Position, SubscriptionSignal } from '../../application/ports/eventStore.ts';
import type { LeaderSession, OpenLeaderSession } from '../../application/ports/leaderSession.ts';
import { assertStillThere, LostLeadership } from './checkpoints.ts';
import { ConsumerFailed, isTransient } from './faults.ts';
import {
  announceTaken,
  categoriesOf,
  conclude,
  eventsFor,
  type LeaderHooks,
  type Member,
  standingOf,
  Turns,
} from './member.ts';
import { applyCarefully } from './parking.ts';
import { pause } from './pause.ts';

export interface LoneLaneOptions extends LeaderHooks {
  readonly side: SideSession;
  readonly batchSize: number;
  /** True: it was taken in among the others, at this point of the log. */
  readonly rejoin: (member: Member) => boolean;
  readonly onFault: (consumer: string, error: Error) => void;
  readonly onDelay: (error: Error) => void;
  /** Longest pause between two tries. */
  readonly retryDelayMsMax: number;
}

/** The one session that all who are alone share: what they wait for must not hold up those who are well. */
export class SideSession {
  readonly #open: () => Promise<LeaderSession>;
  #turns: Promise<Turns> | null = null;

  constructor(openSession: OpenLeaderSession, role: string) {
    this.#open = () => openSession(`${role} aside`);
  }

  turns(): Promise<Turns> {
    this.#turns ??= this.#open().then(
      (session) => {
        session.lost.catch(() => this.discard());
        return new Turns(session);
      },
      (error: unknown) => {
        this.#turns = null;
        throw error;
      },
    );
    return this.#turns;
  }

  /** The next one gets a new session. */
  async discard(): Promise<void> {
    const turns = this.#turns;
    this.#turns = null;
    const opened = await turns?.catch(() => null);
    await opened?.session.close();
  }
}

const DELAY_MS = 100;
/** Streams that fail one after the other, with nothing taken in between: then it is not the events. */
const PARKED_IN_A_ROW_MAX = 10;

/** Resolves when it has joined the others, or at the signal. Throws LostLeadership. */
export const followAlone = async (member: Member, options: LoneLaneOptions, signal: AbortSignal): Promise<void> => {
  const { store, batchSize, side, rejoin, retryDelayMsMax } = options;
  for (let failures = 0; !signal.aborted; ) {
    try {
      for await (const batch of store.subscribe({ after: member.position, categories: null, batchSize, signal })) {
        if (batch.kind !== 'caughtUp') {
          const turns = await side.turns();
          await turns.take((session) => take(member, batch, options, session));
          failures = 0;
          member.fault = null;
        }
        if (rejoin(member)) return;
      }
    } catch (error) {
      if (error instanceof LostLeadership) throw error;
      await reportFault(member, error as Error, options);
      failures++;
      await pause(Math.min(DELAY_MS * 2 ** failures, retryDelayMsMax), signal);
    }
  }
};

/** What failed is told once for as long as it fails alike. */
const reportFault = async (
  member: Member,
  error: Error,
  { side, onFault, onDelay }: LoneLaneOptions,
): Promise<void> => {
  if (!(error instanceof ConsumerFailed)) {
    onDelay(error);
    if (!isTransient(error)) await side.discard(); // the connection, as far as anybody can tell
    return;
  }
  const isNews = member.fault?.message !== error.message;
  member.fault = error;
  if (isNews) onFault(member.consumer.name, error);
};

const take = async (
  member: Member,
  batch: Exclude<SubscriptionSignal, { kind: 'caughtUp' }>,
  options: LoneLaneOptions,
  session: LeaderSession,
): Promise<void> => {
  const to: Position = batch.position;
  if (member.position !== null && member.position >= to) return;
  const recorded = batch.kind === 'events' ? batch.events : [];
  const { events, poisoned: unreadable } = await eventsFor(options.codec, member, recorded, categoriesOf(recorded));
  try {
    const done = await session.transaction(async (tx) => {
      const failing = await applyCarefully(member.consumer, events, tx);
      const poisonedStreams = new Set(failing.map(({ recorded: { stream } }) => stream));
      const poisoned = [...failing, ...unreadable.filter(({ recorded: { stream } }) => !poisonedStreams.has(stream))];
      const hasTaken = events.some(({ stream }) => !poisonedStreams.has(stream));
      if (failing.length > 0 && !hasTaken && member.parkedInARow + failing.length > PARKED_IN_A_ROW_MAX)
        throw new ConsumerFailed(`${PARKED_IN_A_ROW_MAX} streams in a row could not be taken`, {
          cause: failing[0]?.error,
        });
      const took = [{ member, poisoned, hasTaken }];
      return { took, parked: await conclude(options, took, to, tx) };
    });
    announceTaken(options, done.took, to, done.parked);
  } catch (error) {
    // Nobody failed when a rebuilt copy, further on, was swapped in under it.
    if (error instanceof ConsumerFailed) await assertStillThere(session, standingOf(member));
    await member.consumer.reset(session);
    throw error;
  }
};

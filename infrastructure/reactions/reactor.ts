// Turns the reactions of process managers into jobs and timers, in the transaction that moves their checkpoint (architecture §7).

import type { LogConsumer } from '../../application/ports/consumers.ts';
import type { JobQueue, JobRequest } from '../../application/ports/jobs.ts';
import type { LoggedEvent } from '../../application/ports/loggedEvent.ts';
import {
  consumerName,
  type EffectHandler,
  type ProcessManager,
  type ProcessMemory,
  type Reaction,
} from '../../application/ports/processManager.ts';
import type { Sql, SqlTransaction } from '../../application/ports/sql.ts';
import type { Timer, TimerGroup, TimerKey } from '../../application/ports/timers.ts';
import { fireTimersNow } from '../timers/groupFiring.ts';
import { clearTimers, setTimers } from '../timers/timerTable.ts';

interface TimerChange extends TimerKey {
  /** null clears the timer. */
  readonly timer: Timer | null;
  readonly first: boolean;
}

/** The effects of one batch. Of several changes to one timer, only the last is written. */
class Effects {
  readonly jobs: JobRequest[] = [];
  readonly fired = new Map<string, TimerGroup>();
  /** Requests for the capabilities' own effects, by the name of the effect. */
  readonly asked = new Map<string, unknown[]>();
  readonly #timers = new Map<string, TimerChange>();

  add(reaction: Reaction, { account: accountId, mode }: LoggedEvent): void {
    switch (reaction.kind) {
      case 'job':
        this.jobs.push({ ...reaction.job, tenant: { accountId, mode } });
        break;
      case 'timer':
        this.#change({ ...reaction.timer, timer: reaction.timer, first: reaction.first === true });
        break;
      case 'clearTimer':
        this.#change({ ...reaction.timer, timer: null, first: false });
        break;
      case 'fireNow':
        this.fired.set(JSON.stringify(reaction.timers), reaction.timers);
        break;
      case 'effect':
        this.#ask(reaction);
        break;
      default:
        reaction satisfies never;
    }
  }

  #ask({ effect, about }: Extract<Reaction, { kind: 'effect' }>): void {
    const asked = this.asked.get(effect);
    if (asked === undefined) this.asked.set(effect, [about]);
    else asked.push(about);
  }

  #change({ kind, key, timer, first }: TimerChange): void {
    const id = `${kind} ${key}`;
    const before = this.#timers.get(id);
    if (timer === null && before?.first) this.#timers.delete(id);
    else this.#timers.set(id, { kind, key, timer, first: before ? before.first : first });
  }

  set(): Timer[] {
    return [...this.#timers.values()].flatMap(({ timer }) => timer ?? []);
  }

  cleared(): TimerChange[] {
    return [...this.#timers.values()].filter(({ timer }) => timer === null);
  }
}

interface ReactorNeeds {
  readonly jobs: JobQueue;
  /** Called when timers were set, with the earliest due time (account time), so that the scan can wake earlier. */
  readonly onTimers: (earliest: string) => void;
  /** Handlers of the capabilities' effects, by name. */
  readonly effects: ReadonlyMap<string, EffectHandler>;
  /** Memories of processes, by name. */
  readonly memories: ReadonlyMap<string, () => ProcessMemory>;
}

const memoryOf = ({ name, remembers }: ProcessManager, { memories }: ReactorNeeds): ProcessMemory | null => {
  if (remembers === null) return null;
  const open = memories.get(remembers);
  if (open === undefined) throw new Error(`no adapter provides the memory ${remembers} for the process ${name}`);
  return open();
};

/** One process manager as a consumer of the log. */
export class Reactor implements LogConsumer {
  readonly name: string;
  readonly categories: ProcessManager['categories'];
  readonly ofPartition?: () => Reactor;
  readonly #process: ProcessManager;
  readonly #needs: ReactorNeeds;
  /** null if the process decides on the event alone. */
  readonly #memory: ProcessMemory | null;

  constructor(process: ProcessManager, needs: ReactorNeeds) {
    this.name = consumerName(process);
    this.categories = process.categories;
    this.#process = process;
    this.#needs = needs;
    this.#memory = memoryOf(process, needs);
    // The partition's memory follows only the accounts of the partition, and its reactions need no others.
    if (process.isByAccount) this.ofPartition = () => new Reactor(process, needs);
  }

  async reset(db: Sql): Promise<void> {
    await this.#memory?.load(db);
  }

  async apply(events: readonly LoggedEvent[], tx: SqlTransaction): Promise<void> {
    const effects = new Effects();
    for (const event of events) {
      const taken = this.#memory?.take(event, tx) ?? null;
      if (taken !== null) await taken; // not for null: a promise per event and process would be a twentieth of a charge's allocations
      for (const reaction of this.#process.react(event, this.#memory)) effects.add(reaction, event);
    }
    await this.#write(effects, tx);
  }

  async #write(effects: Effects, tx: SqlTransaction): Promise<void> {
    const { jobs, onTimers, effects: declared } = this.#needs;
    const timers = effects.set();
    // Before any timer, because holding back a first attempt also locks the target's row before its timers.
    for (const [name, asked] of effects.asked) {
      const handle = declared.get(name);
      if (handle === undefined) throw new Error(`no capability declares the effect ${name}`);
      await handle(asked, tx);
    }
    await setTimers(tx, timers);
    await clearTimers(tx, effects.cleared());
    for (const group of effects.fired.values()) await fireTimersNow(tx, group);
    if (effects.jobs.length > 0) await jobs.enqueue(effects.jobs, tx);
    const earliest = effects.fired.size > 0 ? '' : timers.map(({ dueAt }) => dueAt).toSorted()[0];
    if (earliest !== undefined) tx.onEnd((isCommitted) => isCommitted && onTimers(earliest));
  }
}

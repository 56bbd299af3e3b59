// POST /v1/webhooks/deliveries/redrive (rule W8): sends many dead-lettered deliveries again. A job processes them in pages and stores its
// progress. Repeats are harmless, because each delivery's stream records whether it was sent again.

import { type EndpointId, idIn, type RedriveId } from '../../domain/kernel/ids.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { correlationOf, redriveDelivery, WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { idOf, jobKind, payloadOf } from '../core/capability.ts';
import { type CommandHandler, StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import { limitsOf, type UseCaseNeeds } from '../core/useCase.ts';
import type { JobQueue, JobRequest, PayloadOf } from '../ports/jobs.ts';
import { assertCountable, type CaughtUp } from '../ports/readModels/progress.ts';
import type { DeadLetter, DeadLetterReads } from '../ports/readModels/webhookDeliveries.ts';
import type { Redrive, RedriveProgress, Redrives } from '../ports/redrives.ts';
import type { Randomness } from '../ports/system.ts';
import { endpointRefused, withTarget } from './resend.ts';
import type { StreamMessages } from './streamMessages.ts';

export const redrive = jobKind({
  name: 'redrive',
  payload: payloadOf({ redriveId: idOf<RedriveId>() }),
  subjectOf: ({ redriveId }) => redriveId,
});

export const jobOfRedrive = ({ id: redriveId, tenant }: Pick<Redrive, 'id' | 'tenant'>) => ({
  tenant,
  payload: { redriveId },
});

interface AskNeeds extends UseCaseNeeds {
  readonly deadLetters: DeadLetterReads;
  readonly redrives: Redrives;
  readonly randomness: Randomness;
  readonly caughtUp: CaughtUp;
}

interface WantedRedrive extends Pick<Redrive, 'tenant' | 'filter' | 'actor' | 'requestId'> {
  readonly isDryRun: boolean;
}
export interface AskedRedrive {
  /** Dead-lettered deliveries that match the filter. */
  readonly matched: number;
  /** Deliveries that this redrive sends: without those to inactive or deleted endpoints, or claimed by another redrive. */
  readonly queued: number;
  /** null if there is nothing to send. */
  readonly redriveId: RedriveId | null;
}

/**
 * Counts the deliveries that a redrive would send and, unless it is a dry run, starts it. With `hasWorker` a job is enqueued; otherwise
 * the caller processes it. Throws ReadModelsBehind.
 */
export const askRedrive =
  ({ commands, accounts, deadLetters, redrives, randomness, caughtUp }: AskNeeds, hasWorker = true) =>
  async ({ tenant, filter, actor, requestId, isDryRun }: WantedRedrive): Promise<AskedRedrive> => {
    const askedAt = await accounts.now(tenant.accountId, tenant.mode);
    await assertCountable(caughtUp, 'webhookDeliveries', 'the dead-lettered deliveries could not be counted');
    if (isDryRun) return { matched: await deadLetters.total(tenant, filter, askedAt), queued: 0, redriveId: null };
    let [matched, queued] = [0, 0];
    for (const { endpointId, deliveries, free } of await deadLetters.count(tenant, filter, askedAt)) {
      matched += deliveries;
      if (await takesDeliveries(commands, endpointId)) queued += free;
    }
    if (queued === 0) return { matched, queued: 0, redriveId: null };
    const id = idIn<RedriveId>(tenant.accountId, randomness.bytes(16));
    const wanted: Redrive = { id, tenant, filter, askedAt, actor, requestId, queued };
    const job: JobRequest = { queue: redrive.name, ...jobOfRedrive(wanted) };
    await redrives.begin(wanted, hasWorker ? job : null);
    return { matched, queued, redriveId: id };
  };

/** An unreadable endpoint takes none. */
const takesDeliveries = async (commands: CommandHandler, endpointId: EndpointId | null): Promise<boolean> =>
  (await unlessUnreadable(endpointRefused(commands, endpointId))) === null;

interface WorkNeeds extends UseCaseNeeds {
  readonly deadLetters: DeadLetterReads;
  readonly redrives: Redrives;
  readonly messages: StreamMessages;
}

/** Limits of one job. */
interface RedriveBounds {
  /** Deliveries per page. */
  readonly page: number;
  /** Pages per job, chosen so that a job stays far below its time limit. */
  readonly pages: number;
}
const BOUNDS: RedriveBounds = { page: 100, pages: 50 };

interface Aimed {
  readonly letter: DeadLetter;
  readonly target: string;
}

/** Processes one redrive, page by page. Use one instance per redrive, because `#probed` belongs to it. */
export class RedriveWorker {
  readonly #needs: WorkNeeds;
  /** Targets that already had their probe in this redrive. */
  readonly #probed = new Set<string>();
  #sent = 0;

  constructor(needs: WorkNeeds) {
    this.#needs = needs;
  }

  /** Number of deliveries that this instance sent again. */
  get sent(): number {
    return this.#sent;
  }

  /** Processes the next page. Returns the progress, or null if the redrive is done. */
  async page(id: RedriveId, limit = BOUNDS.page): Promise<RedriveProgress | null> {
    const { deadLetters, redrives } = this.#needs;
    const found = await redrives.find(id);
    if (found === null) return null;
    const letters = await deadLetters.page(found, limit);
    const last = letters.at(-1);
    const sent = last === undefined ? 0 : await this.#send(found, letters);
    this.#sent += sent;
    if (last === undefined || letters.length < limit) {
      await redrives.end(id);
      return null;
    }
    const place = { scheduledAt: last.delivery.scheduledAt, id: last.id };
    await redrives.advance(id, place, sent);
    return { requested: found.requested + sent, after: place };
  }

  /** Returns how many deliveries this call sent again. */
  async #send(redriven: Redrive, letters: readonly DeadLetter[]): Promise<number> {
    const { commands, accounts } = this.#needs;
    const { accountId, mode } = redriven.tenant;
    const endpoints = [...new Set(letters.map(({ delivery }) => delivery.endpointId))];
    const taking = new Set<EndpointId | null>();
    for (const endpoint of endpoints) if (await takesDeliveries(commands, endpoint)) taking.add(endpoint);
    const at = await accounts.endingAt(accountId, mode, redriven.askedAt);
    const taken = letters.filter(({ delivery }) => taking.has(delivery.endpointId));
    const targets = await Promise.all(taken.map((letter) => unlessUnreadable(this.#aim(letter))));
    const aimed = targets.flatMap((one) => (one instanceof StreamUnreadable ? [] : [one]));
    const unprobed = await this.#unprobed(redriven.id, new Set(aimed.map(({ target }) => target)));
    const done = await Promise.all(aimed.map((one) => this.#sendOne(redriven, one, unprobed.delete(one.target), at)));
    return done.reduce((sum, appended) => sum + appended, 0);
  }

  async #aim(letter: DeadLetter): Promise<Aimed> {
    const { endpointId } = letter.delivery;
    return { letter, target: endpointId ?? (await withTarget(this.#needs.messages, letter.delivery)).target };
  }

  /** Returns the targets that need a probe: one per target and redrive. If a crash loses it, targets are probed once a minute (W3). */
  async #unprobed(id: RedriveId, targets: ReadonlySet<string>): Promise<Set<string>> {
    const unknown = [...targets].filter((target) => !this.#probed.has(target));
    for (const target of unknown) this.#probed.add(target);
    return unknown.length === 0 ? new Set() : new Set(await this.#needs.redrives.probe(id, unknown));
  }

  /** Returns the number of events. A delivery that is unreadable or has too many events (rule E10) is left out. */
  async #sendOne({ id, tenant, askedAt, actor, requestId }: Redrive, aimed: Aimed, isProbe: boolean, at: Timestamp) {
    const { letter, target } = aimed;
    const { accountId: account, mode } = tenant;
    const correlationId = correlationOf(letter.delivery);
    const metadata = { account, mode, actor, requestId, correlationId, causationId: id };
    const stream = WEBHOOK_DELIVERY.stream(letter.id);
    const decide = redriveDelivery(target, isProbe, askedAt, at);
    const { commands } = this.#needs;
    const done = await unlessUnreadable(
      commands.execute(WEBHOOK_DELIVERY, stream, decide, metadata, limitsOf({ actor, requestId })),
    );
    return done instanceof StreamUnreadable || isRejection(done) ? 0 : done.appended;
  }
}

/** The job of a redrive. It processes a limited number of pages and enqueues another job for the rest. */
export const workOffRedrive =
  (needs: WorkNeeds & { readonly jobs: Pick<JobQueue, 'enqueue'> }, { page, pages } = BOUNDS) =>
  async ({ redriveId }: PayloadOf<typeof redrive>): Promise<void> => {
    const worker = new RedriveWorker(needs);
    for (let n = 0; n < pages; n++) if ((await worker.page(redriveId, page)) === null) return;
    const found = await needs.redrives.find(redriveId);
    if (found !== null) await needs.jobs.enqueue([{ queue: redrive.name, ...jobOfRedrive(found) }]);
  };

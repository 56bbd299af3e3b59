// POST /v1/webhooks/deliveries/redrive (rule W8): many dead-lettered deliveries are sent again. A job works them off in pages and keeps how
// far it has got; whatever is done twice changes nothing, because each delivery's own stream tells whether it was sent again already.
import { streamName } from '../../domain/kernel/event.ts';
import { type EndpointId, encodeRawId, type RedriveId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { redriveDelivery } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { Accounts } from '../core/accounts.ts';
import { WEBHOOK_DELIVERY } from '../core/aggregates.ts';
import { jobKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import type { JobQueue, JobRequest, PayloadOf } from '../ports/jobs.ts';
import type { Randomness } from '../ports/randomness.ts';
import { assertCountable, type CaughtUp } from '../ports/readModels/progress.ts';
import type { DeadLetter, DeadLetterReads } from '../ports/readModels/webhookDeliveries.ts';
import type { Redrive, RedriveProgress, Redrives } from '../ports/redrives.ts';
import type { PaymentMessages } from './paymentMessages.ts';
import { endpointRefused, withTarget } from './retryDelivery.ts';

export const redrive = jobKind({
  name: 'redrive',
  payload: payloadOf({ redriveId: idOf<RedriveId>() }),
  subjectOf: ({ redriveId }) => redriveId,
});

export const jobOfRedrive = ({ id: redriveId, tenant }: Pick<Redrive, 'id' | 'tenant'>) => ({
  tenant,
  payload: { redriveId },
});

interface AskNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly deadLetters: DeadLetterReads;
  readonly redrives: Redrives;
  readonly randomness: Randomness;
  readonly caughtUp: CaughtUp;
}

export interface WantedRedrive extends Pick<Redrive, 'tenant' | 'filter' | 'actor' | 'requestId'> {
  readonly isDryRun: boolean;
}
export interface AskedRedrive {
  /** Dead-lettered deliveries that fit the filter. */
  readonly matched: number;
  /** Those that are sent again: not those to endpoints that are inactive or deleted, and none in a dry run. */
  readonly queued: number;
  /** null: nothing is to be done. */
  readonly redriveId: RedriveId | null;
}

/**
 * Counts what a re-drive would send and, unless it is a dry run, begins it. `hasWorker`: its job is enqueued; otherwise the caller works it
 * off. Throws ReadModelsBehind.
 */
export const askRedrive =
  ({ commands, accounts, deadLetters, redrives, randomness, caughtUp }: AskNeeds, hasWorker = true) =>
  async ({ tenant, filter, actor, requestId, isDryRun }: WantedRedrive): Promise<AskedRedrive> => {
    const askedAt = await accounts.now(tenant.accountId, tenant.mode);
    await assertCountable(caughtUp, 'webhookDeliveries', 'the dead-lettered deliveries could not be counted');
    let [matched, queued] = [0, 0];
    for (const { endpointId, deliveries } of await deadLetters.count(tenant, filter, askedAt)) {
      matched += deliveries;
      if (await takesDeliveries(commands, endpointId)) queued += deliveries;
    }
    if (isDryRun || queued === 0) return { matched, queued: 0, redriveId: null };
    const id = encodeRawId(randomness.bytes(16)) as RedriveId;
    const wanted: Redrive = { id, tenant, filter, askedAt, actor, requestId, queued };
    const job: JobRequest = { queue: redrive.name, ...jobOfRedrive(wanted) };
    await redrives.begin(wanted, hasWorker ? job : null);
    return { matched, queued, redriveId: id };
  };

const takesDeliveries = async (commands: CommandHandler, endpointId: EndpointId | null): Promise<boolean> =>
  (await endpointRefused(commands, endpointId)) === null;

interface WorkNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly deadLetters: DeadLetterReads;
  readonly redrives: Redrives;
  readonly messages: PaymentMessages;
}

/** How much is done at once. */
export interface RedriveBounds {
  /** Deliveries that are read, and sent again, together. */
  readonly page: number;
  /** Pages of one job: far less work than the longest that a job may run. */
  readonly pages: number;
}
const BOUNDS: RedriveBounds = { page: 100, pages: 50 };

/** Works a re-drive off, page by page. One at a time: `probed` is what this one knows. */
export class RedriveWorker {
  readonly #needs: WorkNeeds;
  /** Targets to which it has sent a probe already; after a crash each gets another one. */
  readonly #probed = new Set<string>();
  #sent = 0;

  constructor(needs: WorkNeeds) {
    this.#needs = needs;
  }

  /** Deliveries that this one has had sent. */
  get sent(): number {
    return this.#sent;
  }

  /** Does the next page. Returns how far it is; null: it is done. */
  async page(id: RedriveId, limit = BOUNDS.page): Promise<RedriveProgress | null> {
    const { deadLetters, redrives } = this.#needs;
    const found = await redrives.find(id);
    if (found === null) return null;
    const { tenant, filter, askedAt, after, requested } = found;
    const letters = await deadLetters.page(tenant, filter, askedAt, after, limit);
    const last = letters.at(-1);
    const sent = last === undefined ? 0 : await this.#send(found, letters);
    this.#sent += sent;
    if (last === undefined || letters.length < limit) {
      await redrives.end(id);
      return null;
    }
    const place = { scheduledAt: last.delivery.scheduledAt, id: last.id };
    await redrives.advance(id, place, sent);
    return { requested: requested + sent, after: place };
  }

  /** Returns how many were sent again by this. */
  async #send(redriven: Redrive, letters: readonly DeadLetter[]): Promise<number> {
    const { commands, accounts } = this.#needs;
    const { accountId, mode } = redriven.tenant;
    const endpoints = [...new Set(letters.map(({ delivery }) => delivery.endpointId))];
    const taking = new Set<EndpointId | null>();
    for (const endpoint of endpoints) if (await takesDeliveries(commands, endpoint)) taking.add(endpoint);
    const at = await accounts.now(accountId, mode);
    const sent = letters.filter(({ delivery }) => taking.has(delivery.endpointId));
    const done = await Promise.all(sent.map((letter) => this.#sendOne(redriven, letter, at)));
    return done.reduce((sum, appended) => sum + appended, 0);
  }

  async #sendOne({ id, tenant, askedAt, actor, requestId }: Redrive, letter: DeadLetter, at: Timestamp) {
    const { commands, messages } = this.#needs;
    const { delivery } = letter;
    const target = delivery.endpointId ?? (await withTarget(messages, delivery)).target;
    const isProbe = !this.#probed.has(target);
    this.#probed.add(target);
    const { accountId: account, mode } = tenant;
    const metadata = { account, mode, actor, requestId, correlationId: delivery.paymentId, causationId: id };
    const decide = redriveDelivery(target, isProbe, askedAt, at);
    return (await commands.record(WEBHOOK_DELIVERY, streamName.webhookDelivery(letter.id), decide, metadata)).appended;
  }
}

/** The job of a re-drive: so many pages, and then another job for the rest, so that none runs for long. */
export const workOffRedrive =
  (needs: WorkNeeds & { readonly jobs: Pick<JobQueue, 'enqueue'> }, { page, pages } = BOUNDS) =>
  async ({ redriveId }: PayloadOf<typeof redrive>): Promise<void> => {
    const worker = new RedriveWorker(needs);
    for (let n = 0; n < pages; n++) if ((await worker.page(redriveId, page)) === null) return;
    const found = await needs.redrives.find(redriveId);
    if (found !== null) await needs.jobs.enqueue([{ queue: redrive.name, ...jobOfRedrive(found) }]);
  };

// Completes an erasure after the payment's or payout's own event: destroys the key if the command was interrupted, blanks the other
// streams and the operational records, and deletes evidence. Every step is idempotent, and a killed job runs again (rule L2). An unreadable
// stream stops no other step; the job fails after them.
import Type from 'typebox';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { eraseCase } from '../../domain/dispute/medCase.ts';
import type { Aggregate } from '../../domain/kernel/aggregate.ts';
import type { Decision, Fact } from '../../domain/kernel/decider.ts';
import type { EvidenceId, PaymentId, StreamName, Tenant } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { erasePaymentAgain, isOrdered } from '../../domain/payment/erase.ts';
import { exists, type PaymentState } from '../../domain/payment/payment.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { eraseRefund, REFUND } from '../../domain/refund/refund.ts';
import { eraseDelivery, WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import type { Accounts } from '../core/accounts.ts';
import { jobKind, payloadOf, text } from '../core/capability.ts';
import { type CommandHandler, StreamUnreadable, unlessUnreadable } from '../core/commandHandler.ts';
import { caseMailIdOf } from '../core/derivedIds.ts';
import { metadataForProcess } from '../core/eventMetadata.ts';
import { enqueue, processManager, reacting } from '../core/reactions.ts';
import type { DataKeys } from '../ports/dataKeys.ts';
import { throwFirst } from '../ports/eachInTurn.ts';
import type { EvidenceGrants } from '../ports/evidenceGrants.ts';
import type { EvidenceStorage } from '../ports/evidenceStorage.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { MailSender } from '../ports/mail.ts';
import type { ErasedOwner, PersonalDeliveries, PersonalRecords } from '../ports/personalData.ts';
import { type CaughtUp, ReadModelsBehind } from '../ports/readModels/progress.ts';
import type { SqlPool } from '../ports/sql.ts';
import { casesOf, refundsOf } from './findPerson.ts';

/** `owner`: the id of the payment or payout, which is also the owner of its data key. */
export const completeErasure = jobKind({
  name: 'completeErasure',
  payload: payloadOf({
    kind: Type.Unsafe<'payment' | 'payout'>(Type.String({ enum: ['payment', 'payout'] })),
    owner: text,
  }),
  subjectOf: ({ owner }) => owner,
});

export const erasure = processManager({
  name: 'erasure',
  movesMoney: false,
  from: 'beginning',
  reactions: {
    payment: reacting(PAYMENT.groups, {
      reads: {
        PaymentPersonalDataErased: ({ subject }) => [enqueue(completeErasure, { kind: 'payment', owner: subject })],
      },
      ignores: ['demand', 'methods', 'money', 'held', 'returns', 'refund', 'dispute'],
    }),
    payout: reacting(PAYOUT.groups, {
      reads: {
        PayoutPersonalDataErased: ({ subject }) => [enqueue(completeErasure, { kind: 'payout', owner: subject })],
      },
      ignores: ['request', 'review', 'underWay', 'end'],
    }),
  },
});

export interface ErasureNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly dataKeys: Pick<DataKeys, 'destroy'>;
  readonly personalRecords: PersonalRecords;
  readonly personalDeliveries: PersonalDeliveries;
  readonly evidence: Pick<EvidenceStorage, 'remove'>;
  readonly grants: Pick<EvidenceGrants, 'ofCases'>;
  readonly mail: Pick<MailSender, 'forget'>;
  readonly caughtUp: CaughtUp;
  /** The database of the operational records. */
  readonly erasing: SqlPool;
  /** Records the `tx_` or `po_` id outside the database, because a restored one doesn't know what was erased later. */
  readonly onErased: (id: string) => void;
}

/** Longest wait until responses of webhook endpoints can be found, in milliseconds. The job is retried after that. */
const FOUND_MS = 10_000;

/** Returns the job's work. Throws ReadModelsBehind, StreamUnreadable and errors of the stores: the job is retried. */
export const completeErasureOf =
  (needs: ErasureNeeds) =>
  async ({ kind, owner }: PayloadOf<typeof completeErasure>): Promise<void> => {
    const work = new ErasureWork(needs);
    const isPayment = kind === 'payment';
    const isErased = isPayment ? await work.ofPayment(owner as PaymentId) : await work.ofPayout(owner as PayoutId);
    // Also if a stream was unreadable: a restore must not bring back data whose erasure was ordered.
    if (isErased) needs.onErased((isPayment ? PAYMENT : PAYOUT).idPrefix + owner);
    throwFirst(work.unreadable);
  };

/** How the streams of an aggregate are blanked. */
interface Blanking<State, Event extends Fact<string, unknown>> {
  readonly aggregate: Aggregate<State, Event>;
  readonly erasure: Event['type'];
  readonly decide: (at: Timestamp) => Decision<State, Event, 'erased'>;
}

/** Infers the state and the events from the aggregate. */
const blanking = <State, Event extends Fact<string, unknown>>(
  aggregate: Aggregate<State, Event>,
  erasure: Event['type'],
  decide: Blanking<State, Event>['decide'],
): Blanking<State, Event> => ({ aggregate, erasure, decide });

const PAYMENT_BLANKING = blanking(PAYMENT, 'PaymentPersonalDataErased', erasePaymentAgain);
const REFUND_BLANKING = blanking(REFUND, 'RefundPersonalDataErased', eraseRefund);
const CASE_BLANKING = blanking(MED_CASE, 'MedCasePersonalDataErased', eraseCase);
const DELIVERY_BLANKING = blanking(WEBHOOK_DELIVERY, 'WebhookDeliveryPersonalDataErased', eraseDelivery);

/** Use one instance per job, because `unreadable` belongs to it. */
class ErasureWork {
  readonly #needs: ErasureNeeds;
  readonly unreadable: StreamUnreadable[] = [];

  constructor(needs: ErasureNeeds) {
    this.#needs = needs;
  }

  /** Returns the result of the work, or null if a stream is unreadable. */
  async #ifReadable<T>(work: Promise<T>): Promise<T | null> {
    const done = await unlessUnreadable(work);
    if (!(done instanceof StreamUnreadable)) return done;
    this.unreadable.push(done);
    return null;
  }

  /** Returns false if the payment was not erased. */
  async ofPayment(paymentId: PaymentId): Promise<boolean> {
    const owner = await this.#ownerOf(paymentId);
    if (owner === null) return false;
    await this.#needs.dataKeys.destroy([paymentId]);
    await this.#blankPayment((await this.#ownerOf(paymentId)) ?? owner, paymentId);
    await this.#blankRecords(owner);
    return true;
  }

  /** Returns false if the payout was not erased. */
  async ofPayout(payoutId: PayoutId): Promise<boolean> {
    const { state } = await this.#needs.commands.load(PAYOUT, PAYOUT.stream(payoutId));
    if (state.status === 'absent' || state.erasedAt === undefined) return false;
    const { accountId, mode } = state.terms;
    const owner = { accountId, mode, paymentId: null, payoutId, txid: null, refundIds: [], caseIds: [] };
    await this.#needs.dataKeys.destroy([payoutId]);
    await this.#blankDeliveries(owner, PAYOUT.stream(payoutId), payoutId);
    await this.#blankRecords(owner);
    return true;
  }

  /** Returns null if the payment was not erased. Disputes that came after the order wait for another one: their files are evidence. */
  async #ownerOf(paymentId: PaymentId): Promise<ErasedOwner | null> {
    let state: PaymentState = PAYMENT.decider.initial;
    let caseIds: ErasedOwner['caseIds'] = [];
    for await (const { event, after } of this.#needs.commands.loadSteps(PAYMENT, PAYMENT.stream(paymentId))) {
      state = after;
      if (event.type === 'PaymentPersonalDataErased' && isOrdered(event)) caseIds = casesOf(state);
    }
    if (!exists(state) || state.charge.erasedAt === undefined) return null;
    const { accountId, mode, txid } = state.charge.terms;
    return { accountId, mode, paymentId, payoutId: null, txid, refundIds: refundsOf(state), caseIds };
  }

  async #blankPayment(owner: ErasedOwner, id: PaymentId): Promise<void> {
    await this.#ifReadable(this.#blank(owner, id, PAYMENT.stream(id), PAYMENT_BLANKING));
    for (const refundId of owner.refundIds)
      await this.#ifReadable(this.#blank(owner, id, REFUND.stream(refundId), REFUND_BLANKING));
    for (const caseId of owner.caseIds)
      await this.#ifReadable(this.#blank(owner, id, MED_CASE.stream(caseId), CASE_BLANKING));
    await this.#blankDeliveries(owner, PAYMENT.stream(id), id);
  }

  /** Blanks the stream's state, unless that was done after its last event with personal data. */
  async #blank<State, Event extends Fact<string, unknown>>(
    tenant: Tenant,
    correlationId: string,
    stream: StreamName,
    { aggregate, erasure, decide }: Blanking<State, Event>,
  ): Promise<void> {
    const { commands, accounts } = this.#needs;
    let [personal, erased] = [-1, -1];
    for await (const { event, revision } of commands.loadSteps(aggregate, stream)) {
      if (event.type === erasure) erased = revision;
      else if (aggregate.serde.hasPersonal(event.type)) personal = revision;
    }
    if (personal <= erased) return;
    const at = await accounts.now(tenant.accountId, tenant.mode);
    const metadata = metadataForProcess('erasure', tenant, correlationId, correlationId);
    await commands.record(aggregate, stream, decide(at), metadata);
  }

  async #blankDeliveries(tenant: Tenant, of: StreamName, correlationId: string): Promise<void> {
    const { caughtUp, personalDeliveries } = this.#needs;
    if (!(await caughtUp('webhookDeliveries', FOUND_MS)).isCaughtUp)
      throw new ReadModelsBehind('responses of webhook endpoints could not be found');
    for (const id of await personalDeliveries.withResponse([of]))
      await this.#ifReadable(this.#blank(tenant, correlationId, WEBHOOK_DELIVERY.stream(id), DELIVERY_BLANKING));
  }

  /** Files first: while the records exist, a killed job finds them again. */
  async #blankRecords(owner: ErasedOwner): Promise<void> {
    const { evidence, grants, mail, erasing, personalRecords } = this.#needs;
    const { accountId, mode, caseIds } = owner;
    const ids: EvidenceId[] = [...(await grants.ofCases(caseIds))];
    for (const caseId of caseIds) {
      const found = await this.#ifReadable(this.#needs.commands.load(MED_CASE, MED_CASE.stream(caseId)));
      if (found === null) continue;
      const { state, revision } = found;
      if (state.status !== 'absent') ids.push(...state.evidence.map(({ evidenceId }) => evidenceId));
      await mail.forget(Array.from({ length: revision + 1 }, (_, n) => caseMailIdOf(caseId, n)));
    }
    for (const evidenceId of new Set(ids)) await evidence.remove({ accountId, mode, evidenceId });
    await erasing.transaction((tx) => personalRecords.erase(owner, tx));
  }
}

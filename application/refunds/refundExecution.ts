// A refund that was reserved is brought to the payer: opened, given to the provider, asked for until its end is known, and its end
// recorded in the payment (architecture §4; rules M5–M7).
import { streamName } from '../../domain/kernel/event.ts';
import type { PaymentId, RefundId } from '../../domain/kernel/ids.ts';
import {
  addMillis,
  addSeconds,
  DAY_MS,
  fromMillis,
  SECOND_MS,
  type Timestamp,
  toMillis,
} from '../../domain/kernel/time.ts';
import { type ExistingPayment, exists } from '../../domain/payment/payment.ts';
import { completeRefund, releaseRefund } from '../../domain/payment/refund.ts';
import {
  type RefundOrder,
  type RefundOutcome,
  type RefundState,
  recordRefundOutcome,
  requestRefund,
} from '../../domain/refund/refund.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { PAYMENT, REFUND } from '../core/aggregates.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { byProcess } from '../core/eventMetadata.ts';
import { isOf } from '../ports/loggedEvent.ts';
import type { PaymentProviders } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import { job, type ProcessManager } from '../ports/processManager.ts';
import type { Timer } from '../ports/timers.ts';

/** When the provider is first asked what became of it; then each time after twice as long. */
const FIRST_LOOK_SECONDS = 1;

/** Items are `<payment id>:<refund id>`; a refund's events name their payment as correlation id. */
export const refundExecution: ProcessManager = {
  name: 'refundExecution',
  categories: ['payment', 'refund', 'account'],
  react: (logged) => {
    if (isOf(logged, 'payment'))
      return logged.event.type === 'TransactionRefundReserved'
        ? [job('refund', `${logged.subject}:${logged.event.data.refundId}`)]
        : [];
    // The sandbox confirms by itself again: what it was left with is looked at now (X3).
    if (isOf(logged, 'account'))
      return logged.event.type === 'AccountSandboxSettingsChanged' && logged.event.data.sandbox.autoConfirmRefunds
        ? [{ kind: 'hurry', timers: { kind: 'refund', group: logged.account } }]
        : [];
    if (!isOf(logged, 'refund')) return [];
    const { account, mode, event } = logged;
    const key = `${logged.correlationId}:${logged.subject}`;
    switch (event.type) {
      case 'RefundRequested':
        return [];
      case 'RefundSubmitted':
      case 'RefundOutcomeUnknown': {
        const dueAt = addSeconds(event.data.at, FIRST_LOOK_SECONDS);
        return [{ kind: 'timer', timer: { account, mode, kind: 'refund', key, group: account, dueAt } }];
      }
      case 'RefundCompleted':
      case 'RefundFailed':
        return [{ kind: 'clearTimer', timer: { kind: 'refund', key } }, job('refund', key)];
      default:
        return event satisfies never;
    }
  },
};

interface Needs {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly providers: PaymentProviders;
  readonly setTimer: (timer: Timer) => Promise<void>;
}
type OpenRefund = Extract<RefundState, { status: 'requested' | 'submitted' | 'unknown' }>;

export class RefundProcess {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Handler of one item of the queue `refund`: the next step, whatever it is. `dueAt`: the instant of its timer. */
  async run(item: string, dueAt?: Timestamp): Promise<void> {
    const [paymentId = '', refundId = ''] = item.split(':') as [PaymentId, RefundId];
    const { state: payment } = await this.#needs.commands.load(PAYMENT, streamName.payment(paymentId as PaymentId));
    const order = exists(payment) ? orderOf(payment, refundId as RefundId) : null;
    if (order === null) return;
    const { accountId, mode } = order;
    const at = await (dueAt === undefined
      ? this.#needs.accounts.now(accountId, mode)
      : this.#needs.accounts.actingAt(accountId, mode, dueAt));
    const refund = await this.#open(order, at);
    if (refund.status === 'completed' || refund.status === 'failed') return this.#conclude(order, refund);
    if (refund.status === 'absent') throw new Error(`refund ${refundId} was not opened`);
    await this.#step(order, refund, at);
  }

  async #open(order: RefundOrder, at: Timestamp): Promise<RefundState> {
    const { commands } = this.#needs;
    const { state } = await commands.load(REFUND, streamName.refund(order.refundId));
    return state.status === 'absent' ? this.#execute(order, requestRefund(order, at), true) : state;
  }

  /** One effect, one record. What the provider has is asked for; what it may not have is given to it, under the same id. */
  async #step(order: RefundOrder, refund: OpenRefund, at: Timestamp): Promise<void> {
    const provider = this.#needs.providers.of(order.mode);
    if (provider === null) throw new UnknownAtProvider(`refund ${order.refundId}`);
    let outcome: RefundOutcome | null = null;
    if (refund.status !== 'requested') {
      const found = await provider.findRefund(order);
      outcome = found.kind === 'unknown' ? { kind: 'unknown' } : found.value;
    }
    outcome ??= await provider.refund(order);
    const after = await this.#execute(order, recordRefundOutcome(outcome, at));
    if (after.status === refund.status) await this.#lookAgain(order, refund, at);
  }

  #lookAgain({ paymentId, refundId, accountId, mode }: RefundOrder, { requestedAt }: OpenRefund, at: Timestamp) {
    const elapsedMs = toMillis(at) - toMillis(requestedAt);
    const pauseMs = Math.max(elapsedMs, FIRST_LOOK_SECONDS * SECOND_MS);
    // Those that are looked at once a day are looked at together.
    const dueAt =
      pauseMs < DAY_MS ? addMillis(at, pauseMs) : fromMillis((Math.floor(toMillis(at) / DAY_MS) + 1) * DAY_MS);
    const key = `${paymentId}:${refundId}`;
    return this.#needs.setTimer({ account: accountId, mode, kind: 'refund', key, group: accountId, dueAt });
  }

  async #execute(
    order: RefundOrder,
    decide: ReturnType<typeof requestRefund> | ReturnType<typeof recordRefundOutcome>,
    creates = false,
  ): Promise<RefundState> {
    const why = byProcess('refundExecution', order, order.paymentId, order.refundId);
    const stream = streamName.refund(order.refundId);
    const done = await this.#needs.commands.record<'refund', RefundState, string>(REFUND, stream, decide, why, {
      creates,
    });
    return done.state;
  }

  async #conclude(order: RefundOrder, refund: Extract<RefundState, { status: 'completed' | 'failed' }>): Promise<void> {
    const { refundId, paymentId } = order;
    const decide =
      refund.status === 'completed'
        ? completeRefund(refundId, refund.endToEndId, refund.completedAt)
        : releaseRefund(refundId, refund.reason, refund.failedAt);
    const why = byProcess('refundExecution', order, paymentId, refundId);
    await this.#needs.commands.record(PAYMENT, streamName.payment(paymentId), decide, why);
  }
}

/** null: no such refund was reserved. */
const orderOf = ({ charge: { terms }, transaction }: ExistingPayment, id: RefundId): RefundOrder | null => {
  const refund = transaction.status === 'settled' && transaction.refunds.find(({ refundId }) => refundId === id);
  if (!refund) return null;
  const { refundId, amount, currency, strategy, destination } = refund;
  const { paymentId, accountId, mode } = terms;
  const { method, incoming } = transaction.settlement;
  const originalId = incoming.providerPaymentId;
  return { refundId, paymentId, accountId, mode, amount, currency, method, strategy, destination, originalId };
};

// Finds payments whose notification was lost in the provider's own list and stores them as notifications, so that they are settled like any
// other (pix.md, "missed callbacks"). Nothing is decided here.

import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import type { AccountId } from '../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, earlier, HOUR_MS, MINUTE_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { isTxid } from '../../domain/pix/ids.ts';
import type { IncomingPayment } from '../../domain/transaction/incomingPayment.ts';
import type { Accounts } from '../core/accounts.ts';
import { jobKind } from '../core/capability.ts';
import { idOf, mode, payloadOf } from '../core/payloads.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import {
  type PaymentProvider,
  type PaymentProviders,
  type Tenant,
  UnknownAtProvider,
} from '../ports/paymentProvider.ts';
import type { ProviderNotifications } from '../ports/providerNotifications.ts';
import type { LedgerReads } from '../ports/readModels/ledger.ts';
import type { PaymentReads } from '../ports/readModels/payments.ts';
import type { Reconciliations } from '../ports/reconciliations.ts';

/** A first run looks back this far; the longest period asked for at once, because the standard API bounds periods. */
const PERIOD_MS = DAY_MS;
/** A bank may list a payment this much later than it was made. */
const OVERLAP_MS = HOUR_MS;
/** Another worker was there less than this ago: nothing to do. In account time, which is never slower than real time. */
const FRESH_MS = 5 * MINUTE_MS;

export const reconcile = jobKind({
  name: 'reconcile',
  payload: payloadOf({ accountId: idOf<AccountId>(), mode }),
  subjectOf: ({ accountId, mode }) => `${accountId}/${mode}`,
});

interface Listed {
  readonly txid: string;
  readonly incoming: IncomingPayment;
}
interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp;
}

interface Needs {
  readonly accounts: Pick<Accounts, 'now'>;
  readonly providers: PaymentProviders;
  readonly notifications: Pick<ProviderNotifications, 'store' | 'unreported'>;
  readonly reconciliations: Reconciliations;
  readonly payments: Pick<PaymentReads, 'byTxid'>;
  readonly ledger: LedgerReads;
  readonly alerts: Pick<OperatorAlerts, 'unmatchedPayments' | 'disputesRest'>;
}

/**
 * Compares the payments that a tenant's provider lists with its notifications. Throws UnknownAtProvider; a repeat goes on after the last
 * period that was completed. Idempotent, concurrently too: a payment becomes one notification.
 */
export const compareWithProvider =
  (needs: Needs) =>
  async (tenant: PayloadOf<typeof reconcile>): Promise<void> => {
    const { accounts, providers, reconciliations, alerts } = needs;
    const provider = providers.of(tenant.mode);
    if (provider === null) return;
    const now = await accounts.now(tenant.accountId, tenant.mode);
    const until = believable(await reconciliations.reconciledUntil(tenant), now);
    if (until !== null && now < addMillis(until, FRESH_MS)) return;
    const from = until === null ? addMillis(now, -PERIOD_MS) : addMillis(until, -OVERLAP_MS);
    const isNew = ({ incoming }: Listed) => until === null || incoming.paidAt > until;
    const unmatched = new Set<string>();
    try {
      for (const period of periodsOf(from, now)) {
        const unreported = await unreportedIn(needs, provider, tenant, period);
        for (const one of await reportPayments(needs, tenant, unreported))
          if (isNew(one)) unmatched.add(one.incoming.providerPaymentId);
        await reconciliations.saveReconciledUntil(tenant, period.to);
      }
    } finally {
      if (unmatched.size > 0) alerts.unmatchedPayments(tenant, [...unmatched]);
    }
    if (until === null || saoPauloDay(until) !== saoPauloDay(now)) await reportDisputes(needs, tenant);
  };

/** Once a day: what the bank gave to payers of disputes is another amount than was taken (Q11). */
const reportDisputes = async ({ ledger, alerts }: Needs, tenant: Tenant): Promise<void> => {
  const rests = await ledger.disputesRests(tenant);
  if (rests.length > 0) alerts.disputesRest(tenant, rests);
};

/** Returns null for a time ahead of ours, which is from a host whose clock was wrong and does not say how far it really got. */
const believable = (until: Timestamp | null, now: Timestamp): Timestamp | null =>
  until !== null && until > addMillis(now, OVERLAP_MS) ? null : until;

function* periodsOf(from: Timestamp, now: Timestamp): Generator<Period> {
  for (let start = from; start < now; ) {
    const to = earlier(addMillis(start, PERIOD_MS), now);
    yield { from: start, to };
    start = to; // bounds are included, so that nothing falls between two periods
  }
}

const unreportedIn = async (
  { notifications }: Needs,
  provider: PaymentProvider,
  tenant: Tenant,
  { from, to }: Period,
): Promise<readonly Listed[]> => {
  const listed = await provider.paymentsBetween(tenant, from, to);
  if (listed.kind !== 'known') throw new UnknownAtProvider(`payments of ${reconcile.subjectOf(tenant)} from ${from}`);
  if (listed.value.length === 0) return [];
  const references = listed.value.map(({ incoming }) => incoming.providerPaymentId);
  const unreported = await notifications.unreported(tenant, references);
  return listed.value.filter(({ incoming }) => unreported.has(incoming.providerPaymentId));
};

/** Stores notifications of payments for charges of the tenant. Returns those whose txid a charge could have, but none of the tenant has. */
const reportPayments = async (
  { notifications, payments: reads }: Needs,
  tenant: Tenant,
  unreported: readonly Listed[],
): Promise<readonly Listed[]> => {
  // Whatever else reaches the merchant's account has a txid that no charge can have, or none: it is not for us.
  const forCharges = unreported.filter(({ txid }) => isTxid(txid));
  if (forCharges.length === 0) return [];
  const payments = await reads.byTxid(tenant, [...new Set(forCharges.map(({ txid }) => txid))]);
  const unmatched: Listed[] = [];
  for (const one of forCharges) {
    const paymentId = payments.get(one.txid);
    const reference = one.incoming.providerPaymentId;
    if (paymentId === undefined) unmatched.push(one);
    else await notifications.store({ tenant, kind: 'payment', reference, paymentId }, rawOf(one));
  }
  return unmatched;
};

/** The raw notification: the payment as the provider listed it, and that reconciliation found it. */
const rawOf = ({ txid, incoming }: Listed): string => JSON.stringify({ foundBy: 'reconciliation', txid, incoming });

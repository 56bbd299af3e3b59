// Reads the provider's list to find payments whose notification was lost, and stores them as notifications. They are then settled as usual
// (pix.md, "missed callbacks").

import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import type { AccountId, Tenant } from '../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, earlier, HOUR_MS, MINUTE_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { isTxid } from '../../domain/pix/ids.ts';
import type { Accounts } from '../core/accounts.ts';
import { idOf, jobKind, mode, payloadOf } from '../core/capability.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import {
  type PaymentProvider,
  type PaymentProviders,
  type ReceivedPayment,
  UnknownAtProvider,
} from '../ports/paymentProvider.ts';
import type { ProviderNotifications } from '../ports/providerNotifications.ts';
import type { LedgerReads } from '../ports/readModels/ledger.ts';
import type { PaymentReads } from '../ports/readModels/payments.ts';
import type { Reconciliations } from '../ports/reconciliations.ts';

/** How far a first run looks back, and the longest period of one query, because the standard API limits periods. */
const PERIOD_MS = DAY_MS;
/** A bank may list a payment up to this long after it was made. */
const OVERLAP_MS = HOUR_MS;
/** Skips tenants that another worker compared less than this long ago, in account time (which is never slower than real time). */
const FRESH_MS = 5 * MINUTE_MS;

export const reconcile = jobKind({
  name: 'reconcile',
  payload: payloadOf({ accountId: idOf<AccountId>(), mode }),
  subjectOf: ({ accountId, mode }) => `${accountId}/${mode}`,
});

type Listed = Pick<ReceivedPayment, 'incoming'> & { readonly txid: string };
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
 * Compares the payments that a tenant's provider lists with the stored notifications, and stores the missing ones. Throws
 * UnknownAtProvider if the provider gives no answer; a retry continues after the last completed period. Idempotent, also if run
 * concurrently: each payment becomes one notification.
 */
export const compareWithProvider =
  (needs: Needs) =>
  async (tenant: PayloadOf<typeof reconcile>): Promise<void> => {
    const { accounts, providers, reconciliations, alerts } = needs;
    const provider = await providers.of({ mode: tenant.mode, connectionId: null });
    if (provider?.paymentsBetween === undefined) return;
    const now = await accounts.now(tenant.accountId, tenant.mode);
    const until = plausible(await reconciliations.reconciledUntil(tenant), now);
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

/** Alerts operators if banks paid out other amounts for disputes than were taken from merchants (Q11). Called once a day. */
const reportDisputes = async ({ ledger, alerts }: Needs, tenant: Tenant): Promise<void> => {
  const rests = await ledger.disputesRests(tenant);
  if (rests.length > 0) alerts.disputesRest(tenant, rests);
};

/** Returns `until`, or null if it lies in the future: it came from a host with a wrong clock, so the real progress is unknown. */
const plausible = (until: Timestamp | null, now: Timestamp): Timestamp | null =>
  until !== null && until > addMillis(now, OVERLAP_MS) ? null : until;

function* periodsOf(from: Timestamp, now: Timestamp): Generator<Period> {
  for (let start = from; start < now; ) {
    const to = earlier(addMillis(start, PERIOD_MS), now);
    yield { from: start, to };
    start = to; // bounds are inclusive, so no payment falls between two periods
  }
}

const unreportedIn = async (
  { notifications }: Needs,
  provider: PaymentProvider,
  tenant: Tenant,
  { from, to }: Period,
): Promise<readonly Listed[]> => {
  const listed = await provider.paymentsBetween?.(tenant, from, to);
  if (listed?.kind !== 'known') throw new UnknownAtProvider(`payments of ${reconcile.subjectOf(tenant)} from ${from}`);
  // Other money that reaches the merchant's account has no txid, or one that no charge can have. It is ignored.
  const forCharges = listed.value.filter(
    (one): one is ReceivedPayment & Listed => one.txid !== null && isTxid(one.txid),
  );
  if (forCharges.length === 0) return [];
  const references = forCharges.map(({ incoming }) => incoming.providerPaymentId);
  const unreported = await notifications.unreported(tenant, references);
  return forCharges.filter(({ incoming }) => unreported.has(incoming.providerPaymentId));
};

/** Stores notifications of payments for the tenant's charges. Returns payments with a valid txid that matches no charge of the tenant. */
const reportPayments = async (
  { notifications, payments: reads }: Needs,
  tenant: Tenant,
  unreported: readonly Listed[],
): Promise<readonly Listed[]> => {
  if (unreported.length === 0) return [];
  const payments = await reads.byTxid(tenant, [...new Set(unreported.map(({ txid }) => txid))]);
  const unmatched: Listed[] = [];
  for (const one of unreported) {
    const paymentId = payments.get(one.txid);
    const reference = one.incoming.providerPaymentId;
    if (paymentId === undefined) unmatched.push(one);
    else await notifications.store({ tenant, kind: 'payment', reference, paymentId });
  }
  return unmatched;
};

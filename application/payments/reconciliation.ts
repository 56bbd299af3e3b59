// Reads the list of a provider that belongs to no connection (the sandbox bank) to find payments whose notification was lost, and stores
// them as notifications. They are then settled as usual (pix.md, "missed callbacks"). A round goes through the list of all accounts: its
// cost depends on the payments, not on the number of tenants. application/reconciliation does this, and more, for each connection.

import { saoPauloDay } from '../../domain/kernel/civilDay.ts';
import type { AccountId, Mode, PaymentId, Tenant } from '../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, earlier, fromMillis, MINUTE_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { isTxid } from '../../domain/pix/ids.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import {
  type BookedPage,
  type BookedPayment,
  type Known,
  type PaymentProvider,
  type PaymentProviders,
  UnknownAtProvider,
} from '../ports/paymentProvider.ts';
import type { ProviderNotifications } from '../ports/providerNotifications.ts';
import type { LedgerReads } from '../ports/readModels/ledger.ts';
import type { PaymentReads } from '../ports/readModels/payments.ts';
import type { Reconciliations } from '../ports/reconciliations.ts';
import type { Clock } from '../ports/system.ts';
import { OVERLAP_MS, plausible } from '../reconciliation/progress.ts';

/** How far a first round looks back, and the longest period after which progress is stored. */
const PERIOD_MS = DAY_MS;
/** Pause between two rounds. */
const PAUSE_MS = 10 * MINUTE_MS;

type Listed = BookedPayment & { readonly txid: string };
interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp;
}

export interface ReconciliationNeeds {
  readonly clock: Clock;
  readonly providers: PaymentProviders;
  readonly notifications: Pick<ProviderNotifications, 'store' | 'unreported'>;
  readonly reconciliations: Reconciliations;
  readonly payments: Pick<PaymentReads, 'byTxid'>;
  readonly ledger: LedgerReads;
  readonly alerts: Pick<OperatorAlerts, 'unmatchedPayments' | 'disputesRest'>;
}

/** Compares the lists of both modes' providers. */
export const compareWithProviders = (needs: ReconciliationNeeds) => async (): Promise<void> => {
  for (const mode of ['live', 'test'] as const) await compareWithProvider(needs, mode);
};

/**
 * Compares the payments that the mode's provider lists with the stored notifications, and stores the missing ones. No-op within PAUSE_MS of
 * the last round. Throws UnknownAtProvider if the provider gives no answer; the next call continues after the last completed period.
 * Idempotent, also if run concurrently: each payment becomes one notification.
 */
export const compareWithProvider = async (needs: ReconciliationNeeds, mode: Mode): Promise<void> => {
  const { clock, providers, reconciliations, alerts } = needs;
  const provider = await providers.of({ mode, connectionId: null });
  if (provider?.bookedBetween === undefined) return;
  const now = fromMillis(clock.now());
  const until = plausible(await reconciliations.reconciledUntil(mode), now);
  if (until !== null && now < addMillis(until, PAUSE_MS)) return;
  const from = until === null ? addMillis(now, -PERIOD_MS) : addMillis(until, -OVERLAP_MS);
  const unmatched = new Map<AccountId, Set<string>>();
  try {
    for (const period of periodsOf(from, now)) {
      for await (const page of pagesBetween(provider, period))
        for (const { accountId, bookedAt, incoming } of await reportPayments(needs, mode, page)) {
          if (until !== null && bookedAt <= until) continue;
          const references = unmatched.get(accountId) ?? new Set();
          unmatched.set(accountId, references.add(incoming.providerPaymentId));
        }
      await reconciliations.saveReconciledUntil(mode, period.to);
    }
  } finally {
    for (const [accountId, references] of unmatched) alerts.unmatchedPayments({ accountId, mode }, [...references]);
  }
  if (until === null || saoPauloDay(until) !== saoPauloDay(now)) await reportDisputes(needs, mode);
};

/** Alerts operators if banks paid out other amounts for disputes than were taken from merchants (Q11). Called once a day. */
const reportDisputes = async ({ ledger, alerts }: ReconciliationNeeds, mode: Mode): Promise<void> => {
  const own = (await ledger.disputesRests(null)).filter((rest) => rest.mode === mode);
  for (const [account, rests] of Map.groupBy(own, (rest) => rest.account_id))
    alerts.disputesRest({ accountId: account as AccountId, mode }, rests);
};

function* periodsOf(from: Timestamp, now: Timestamp): Generator<Period> {
  for (let start = from; start < now; ) {
    const to = earlier(addMillis(start, PERIOD_MS), now);
    yield { from: start, to };
    start = to; // bounds are inclusive, so no payment falls between two periods
  }
}

/** Yields the listed payments that a charge may have. Other money that reaches an account has no txid, or one that no charge can have. */
async function* pagesBetween(provider: PaymentProvider, { from, to }: Period): AsyncGenerator<readonly Listed[]> {
  for (let after: string | null = null; ; ) {
    const page: Known<BookedPage> | undefined = await provider.bookedBetween?.(from, to, after);
    if (page?.kind !== 'known') throw new UnknownAtProvider(`payments at ${provider.name} from ${from}`);
    yield page.value.items.filter((one): one is Listed => one.txid !== null && isTxid(one.txid));
    after = page.value.next;
    if (after === null) return;
  }
}

/** Stores notifications of payments for charges. Returns the payments whose txid matches no charge of their account. */
const reportPayments = async (
  needs: ReconciliationNeeds,
  mode: Mode,
  listed: readonly Listed[],
): Promise<readonly Listed[]> => {
  const { notifications, payments } = needs;
  const keys = listed.map(({ accountId, incoming }) => ({
    tenant: { accountId, mode },
    reference: incoming.providerPaymentId,
  }));
  const unreported = await notifications.unreported(keys);
  const lost = listed.filter((_, i) => unreported[i]);
  const unmatched: Listed[] = [];
  for (const [accountId, own] of Map.groupBy(lost, (one) => one.accountId)) {
    const tenant: Tenant = { accountId, mode };
    const charges: ReadonlyMap<string, PaymentId> = await payments.byTxid(tenant, [
      ...new Set(own.map(({ txid }) => txid)),
    ]);
    for (const one of own) {
      const paymentId = charges.get(one.txid);
      const reference = one.incoming.providerPaymentId;
      if (paymentId === undefined) unmatched.push(one);
      else await notifications.store({ tenant, kind: 'payment', reference, paymentId });
    }
  }
  return unmatched;
};

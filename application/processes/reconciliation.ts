// A payment whose notification was lost is found in the provider's own list, told as if the provider had called, and settled like any
// other (pix.md, "missed callbacks"). Nothing is decided here.
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, earlier, HOUR_MS, MINUTE_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { isTxid } from '../../domain/pix/txid.ts';
import type { Receipt } from '../../domain/transaction/transaction.ts';
import type { Accounts } from '../accounts.ts';
import type { PaymentProvider, PaymentProviders, Tenant } from '../ports/paymentProvider.ts';
import { UnknownAtProvider } from '../ports/paymentProvider.ts';
import type { ProviderNotifications } from '../ports/providerNotifications.ts';
import type { Reconciliations } from '../ports/reconciliations.ts';

/** A first run looks back this far; the longest period asked for at once, because the standard API bounds periods. */
const PERIOD_MS = DAY_MS;
/** A bank may list a payment this much later than it was made. */
const OVERLAP_MS = HOUR_MS;
/** Another worker was there less than this ago: nothing to do. In account time, which is never slower than real time. */
const FRESH_MS = 5 * MINUTE_MS;

/** The item of the queue `reconcile`. */
export const reconcileItemOf = ({ accountId, mode }: Tenant): string => `${accountId}/${mode}`;
const tenantOf = (item: string): Tenant => {
  const [accountId, mode] = item.split('/');
  return { accountId: accountId as AccountId, mode: mode as Mode };
};

interface Listed {
  readonly txid: string;
  readonly receipt: Receipt;
}
interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp;
}

interface Needs {
  readonly accounts: Pick<Accounts, 'now'>;
  readonly providers: PaymentProviders;
  readonly notifications: Pick<ProviderNotifications, 'store' | 'untold'>;
  readonly reconciliations: Reconciliations;
  /** The tenant's payments of these txids, every one that was created before the call. Throws ReadModelsBehind. */
  readonly findPayments: (tenant: Tenant, txids: readonly string[]) => Promise<ReadonlyMap<string, PaymentId>>;
  /** The provider lists payments that are for no charge of ours: an operator must know. At most once a run. */
  readonly onStrangers: (tenant: Tenant, references: readonly string[]) => void;
}

/**
 * Handler of one item of the queue `reconcile`: account id, `/`, mode. Throws UnknownAtProvider, and goes on from the last period that
 * was done. Twice, concurrently or cut off: a payment is told once.
 */
export const reconcile =
  (needs: Needs) =>
  async (item: string): Promise<void> => {
    const { accounts, providers, reconciliations, onStrangers } = needs;
    const tenant = tenantOf(item);
    const provider = providers.of(tenant.mode);
    if (provider === null) return;
    const now = await accounts.now(tenant.accountId, tenant.mode);
    const reachedBy = await reconciliations.reachedBy(tenant);
    if (reachedBy !== null && now < addMillis(reachedBy, FRESH_MS)) return;
    const from = reachedBy === null ? addMillis(now, -PERIOD_MS) : addMillis(reachedBy, -OVERLAP_MS);
    const strangers = new Set<string>();
    try {
      for (const period of periodsOf(from, now)) {
        const untold = await untoldIn(needs, provider, tenant, period);
        for (const reference of await tell(needs, tenant, untold)) strangers.add(reference);
        await reconciliations.reached(tenant, period.to);
      }
    } finally {
      if (strangers.size > 0) onStrangers(tenant, [...strangers]);
    }
  };

function* periodsOf(from: Timestamp, now: Timestamp): Generator<Period> {
  for (let start = from; start < now; ) {
    const to = earlier(addMillis(start, PERIOD_MS), now);
    yield { from: start, to };
    start = to; // bounds are included, so that nothing falls between two periods
  }
}

const untoldIn = async (
  { notifications }: Needs,
  provider: PaymentProvider,
  tenant: Tenant,
  { from, to }: Period,
): Promise<readonly Listed[]> => {
  const listed = await provider.receiptsBetween(tenant, from, to);
  if (listed.kind !== 'known') throw new UnknownAtProvider(`payments of ${reconcileItemOf(tenant)} from ${from}`);
  if (listed.value.length === 0) return [];
  const references = listed.value.map(({ receipt }) => receipt.endToEndId);
  const untold = await notifications.untold(tenant, references);
  return listed.value.filter(({ receipt }) => untold.has(receipt.endToEndId));
};

const NONE: ReadonlyMap<string, PaymentId> = new Map();

/** Returns the references of those that are for no payment of the tenant. */
const tell = async (
  { notifications, findPayments }: Needs,
  tenant: Tenant,
  untold: readonly Listed[],
): Promise<readonly string[]> => {
  // Whatever else reaches the merchant's account has a txid that no charge can have, or none: nobody need look for it.
  const txids = [...new Set(untold.map(({ txid }) => txid).filter(isTxid))];
  const payments = txids.length === 0 ? NONE : await findPayments(tenant, txids);
  const strangers: string[] = [];
  for (const { txid, receipt } of untold) {
    const paymentId = payments.get(txid);
    const reference = receipt.endToEndId;
    if (paymentId === undefined) strangers.push(reference);
    else await notifications.store({ tenant, kind: 'payment', reference, paymentId }, rawOf({ txid, receipt }));
  }
  return strangers;
};

/** As the provider listed it, and how we came to know. */
const rawOf = ({ txid, receipt }: Listed): string => JSON.stringify({ foundBy: 'reconciliation', txid, receipt });

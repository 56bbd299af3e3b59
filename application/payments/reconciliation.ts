// A payment whose notification was lost is found in the provider's own list, told as if the provider had called, and settled like any
// other (pix.md, "missed callbacks"). Nothing is decided here.
import type { AccountId, Mode, PaymentId } from '../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, earlier, HOUR_MS, MINUTE_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { isTxid } from '../../domain/pix/txid.ts';
import type { IncomingPayment } from '../../domain/transaction/transaction.ts';
import type { Accounts } from '../accounts/accounts.ts';
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
  readonly incoming: IncomingPayment;
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
  /**
   * The provider lists payments, made since the last run, with a txid such as ours that no charge of the tenant has: an operator must
   * know. At most once a run.
   */
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
    const reachedBy = sane(await reconciliations.reachedBy(tenant), now);
    if (reachedBy !== null && now < addMillis(reachedBy, FRESH_MS)) return;
    const from = reachedBy === null ? addMillis(now, -PERIOD_MS) : addMillis(reachedBy, -OVERLAP_MS);
    const isNew = ({ incoming }: Listed) => reachedBy === null || incoming.paidAt > reachedBy;
    const strangers = new Set<string>();
    try {
      for (const period of periodsOf(from, now)) {
        const untold = await untoldIn(needs, provider, tenant, period);
        for (const one of await tell(needs, tenant, untold))
          if (isNew(one)) strangers.add(one.incoming.providerPaymentId);
        await reconciliations.reached(tenant, period.to);
      }
    } finally {
      if (strangers.size > 0) onStrangers(tenant, [...strangers]);
    }
  };

/** A time ahead of ours is from a host whose clock was wrong: nothing says how far it really got. */
const sane = (reachedBy: Timestamp | null, now: Timestamp): Timestamp | null =>
  reachedBy !== null && reachedBy > addMillis(now, OVERLAP_MS) ? null : reachedBy;

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
  const listed = await provider.paymentsBetween(tenant, from, to);
  if (listed.kind !== 'known') throw new UnknownAtProvider(`payments of ${reconcileItemOf(tenant)} from ${from}`);
  if (listed.value.length === 0) return [];
  const references = listed.value.map(({ incoming }) => incoming.providerPaymentId);
  const untold = await notifications.untold(tenant, references);
  return listed.value.filter(({ incoming }) => untold.has(incoming.providerPaymentId));
};

/** Returns those whose txid a charge could have, and none of the tenant has. */
const tell = async (
  { notifications, findPayments }: Needs,
  tenant: Tenant,
  untold: readonly Listed[],
): Promise<readonly Listed[]> => {
  // Whatever else reaches the merchant's account has a txid that no charge can have, or none: it is not for us.
  const forCharges = untold.filter(({ txid }) => isTxid(txid));
  if (forCharges.length === 0) return [];
  const payments = await findPayments(tenant, [...new Set(forCharges.map(({ txid }) => txid))]);
  const strangers: Listed[] = [];
  for (const one of forCharges) {
    const paymentId = payments.get(one.txid);
    const reference = one.incoming.providerPaymentId;
    if (paymentId === undefined) strangers.push(one);
    else await notifications.store({ tenant, kind: 'payment', reference, paymentId }, rawOf(one));
  }
  return strangers;
};

/** As the provider listed it, and how we came to know. */
const rawOf = ({ txid, incoming }: Listed): string => JSON.stringify({ foundBy: 'reconciliation', txid, incoming });

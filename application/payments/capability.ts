// Payments: from the instruments that payers pay with to money that is settled, released, or sent back.
import type { Mode } from '../../domain/kernel/ids.ts';
import { DAY_MS, fromMillis, HOUR_MS, MINUTE_MS } from '../../domain/kernel/time.ts';
import type { Accounts } from '../core/accounts.ts';
import { capability, each, job, type NotificationWork, type OwedSource, owedBy } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { Clock, Stopwatch } from '../ports/clock.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { PaymentProviders, Tenant } from '../ports/paymentProvider.ts';
import type { NotificationKey, ProviderNotifications } from '../ports/providerNotifications.ts';
import type { LedgerReads } from '../ports/readModels/ledger.ts';
import type { PaymentReads, PaymentViews } from '../ports/readModels/payments.ts';
import type { StatsViews, WalletViews } from '../ports/readModels/views.ts';
import type { Reconciliations } from '../ports/reconciliations.ts';
import type { Timers } from '../ports/timers.ts';
import type { VelocityGuard } from '../ports/velocityGuard.ts';
import { takeAcquirerFacts } from './acquirerOutcomes.ts';
import { Canceller, cancel, cancellation, cancelPayment } from './cancellation.ts';
import { CreateChargeHandler, CreatePaymentHandler } from './create.ts';
import { expire, expireCharge, expiry } from './expiry.ts';
import { fundsRelease, release, releaseFunds } from './fundsRelease.ts';
import { type HeldNeeds, heldPayments } from './heldPayments.ts';
import { InstrumentIssuer, instrumentIssuing, issueInstruments, resumeIssuing } from './issueInstruments.ts';
import { owedOf } from './overdue.ts';
import { providerStatus } from './providerStatus.ts';
import { compareWithProvider, reconcile } from './reconciliation.ts';
import { rejectedPaymentReturn, returnPayment, sendBack } from './rejectedPaymentReturn.ts';
import { handleNotification, Settler, settle, settlementOf, takeFact, takePayment } from './settle.ts';

interface PaymentsNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly providers: PaymentProviders;
  readonly notifications: ProviderNotifications;
  readonly notificationWork: NotificationWork;
  readonly reconciliations: Reconciliations;
  readonly timers: Timers;
  readonly payments: PaymentReads;
  readonly ledger: LedgerReads;
  readonly alerts: OperatorAlerts;
  readonly velocity: VelocityGuard;
  /** For its routes. */
  readonly views: { readonly payments: PaymentViews; readonly wallet: WalletViews; readonly stats: StatsViews };
}

const partsOf = (needs: PaymentsNeeds) => {
  const settler = new Settler(needs);
  const issuer = new InstrumentIssuer(needs);
  return {
    ...needs,
    settler,
    issuer,
    canceller: new Canceller({ ...needs, settler }),
    takeFacts: takeAcquirerFacts(needs),
  };
};
type Parts = ReturnType<typeof partsOf>;

/** One tenant gets a third of the places at most. */
const PLACES = { places: 24, perTarget: 24 };

const unhandledNotifications: OwedSource<PaymentsNeeds, NotificationKey> = ({ notifications }, { ageMs, page }) =>
  notifications.unhandled(ageMs, page);

/** A tenant without a charge for so long is not compared any more; its next charge has it go on from where it was left. */
const ACTIVE_MS = 40 * DAY_MS;
/** Between two comparisons of a tenant, by its own clock. */
const PAUSE_MS = 10 * MINUTE_MS;
/** A comparison that lies further ahead is from a host whose clock was wrong. */
const AHEAD_MS = HOUR_MS;

/**
 * Yields the tenants whose payments were not compared with the provider's list for PAUSE_MS. How far comparisons got is stored, so that one
 * that was lost or failed is due with the next look.
 */
async function* tenantsToReconcile(needs: PaymentsNeeds): AsyncGenerator<readonly Tenant[]> {
  const { clock, payments, providers, reconciliations } = needs;
  const now = clock.now();
  const active = await payments.tenantsSince(fromMillis(now - ACTIVE_MS).slice(0, 10));
  const tenants = active.filter(({ mode }) => providers.of(mode) !== null);
  if (tenants.length === 0) return;
  const compared = await reconciliations.reconciledBetween(fromMillis(now - PAUSE_MS), fromMillis(now + AHEAD_MS));
  const fresh = new Set(compared.map(reconcile.subjectOf));
  yield tenants.filter((tenant) => !fresh.has(reconcile.subjectOf(tenant)));
}

export const payments = capability({
  name: 'payments',
  parts: partsOf,
  processes: [instrumentIssuing, expiry, fundsRelease, rejectedPaymentReturn, cancellation],
  jobs: [
    job(settle, {
      handler: (parts: Parts) => each(handleNotification(parts)),
      places: PLACES,
      idle: 'awaited',
      owed: owedBy(unhandledNotifications, settlementOf),
    }),
    job(returnPayment, {
      handler: (parts: Parts) => each(sendBack(parts)),
      places: PLACES,
      idle: 'awaited',
      owed: owedOf('returnPayment', (paymentId, { providerPaymentId }) => ({ paymentId, providerPaymentId })),
    }),
    job(issueInstruments, {
      handler: ({ issuer }: Parts) => each(({ paymentId }) => issuer.issueAll(paymentId)),
      places: PLACES,
      idle: 'awaited',
      owed: owedOf('issueInstruments', (paymentId) => ({ paymentId })),
    }),
    job(resumeIssuing, {
      handler: ({ issuer }: Parts) => each(({ paymentId }, dueAt) => issuer.resume(paymentId, dueAt)),
      places: PLACES,
      idle: 'apart',
      owed: owedOf('resumeIssuing', (paymentId) => ({ paymentId })),
    }),
    job(expire, {
      handler: (parts: Parts) => each(expireCharge(parts)),
      places: PLACES,
      idle: 'apart',
      owed: owedOf('expire', (paymentId) => ({ paymentId })),
    }),
    job(releaseFunds, {
      handler: (parts: Parts) => each(release(parts)),
      places: PLACES,
      idle: 'apart',
      owed: owedOf('releaseFunds', (paymentId) => ({ paymentId })),
    }),
    job(cancel, {
      handler: ({ canceller }: Parts) => each(({ paymentId }, dueAt) => canceller.run(paymentId, dueAt)),
      places: PLACES,
      idle: 'awaited',
      owed: owedOf('cancel', (paymentId) => ({ paymentId })),
    }),
    job(reconcile, {
      handler: (parts: Parts) => each(compareWithProvider(parts)),
      // Listing a day of payments takes its time, and nobody waits for it.
      places: { places: 6, perTarget: 1 },
      idle: 'apart',
      // A provider that does not answer is asked by the retries of one job, and not by another job every minute.
      owed: owedBy(tenantsToReconcile, (tenant) => ({ tenant, payload: { ...tenant } })),
      routine: '45 * * * * *',
    }),
  ],
  gauges: [
    {
      name: 'disputes_account_rests',
      help: 'Accounts and currencies with a rest on the ledger account of disputes (`ledger check`).',
      read: async ({ ledger }) => (await ledger.disputesRests(null)).length,
    },
    {
      name: 'held_payments',
      help: 'Payments that wait for an operator (`held list`).',
      read: ({ payments }) => payments.countHeld(),
    },
  ],
  notifications: {
    payment: { handle: takePayment },
    fact: { handle: takeFact },
  },
  useCases: (parts: Parts) => ({
    createCharge: new CreateChargeHandler(parts),
    createPayment: new CreatePaymentHandler(parts),
    cancelPayment: cancelPayment(parts),
    providerStatus: providerStatus(parts),
    /** Whether the mode's provider lets the receipt of a settled payment be shown. */
    exposesReceipts: (mode: Mode) => parts.providers.of(mode)?.exposesReceipts === true,
  }),
  operators: (needs: HeldNeeds) => heldPayments(needs),
});

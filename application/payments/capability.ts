// Payments: issuing instruments, settling and releasing the money, and returning it to the payer.

import type { Tenant } from '../../domain/kernel/ids.ts';
import { DAY_MS, fromMillis, HOUR_MS, MINUTE_MS } from '../../domain/kernel/time.ts';
import { capability, each, job, type OwedSource, owedBy } from '../core/capability.ts';
import type { NeedsOf } from '../core/useCase.ts';
import { takeReturns } from '../disputes/takeReturns.ts';
import type { NotificationKey } from '../ports/providerNotifications.ts';
import type { LedgerReads } from '../ports/readModels/ledger.ts';
import type { PaymentReads, PaymentViews } from '../ports/readModels/payments.ts';
import type { StatsViews, WalletViews } from '../ports/readModels/views.ts';
import type { Reconciliations } from '../ports/reconciliations.ts';
import type { Clock } from '../ports/system.ts';
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

type PaymentsNeeds = ConstructorParameters<typeof Settler>[0] &
  ConstructorParameters<typeof InstrumentIssuer>[0] &
  Omit<ConstructorParameters<typeof Canceller>[0], 'settler'> &
  Omit<ConstructorParameters<typeof CreateChargeHandler>[0], 'issuer'> &
  Omit<NeedsOf<typeof handleNotification | typeof compareWithProvider>, 'settler'> &
  NeedsOf<typeof takeAcquirerFacts | typeof takeReturns | typeof sendBack | typeof providerStatus> & {
    readonly clock: Clock;
    readonly payments: PaymentReads;
    readonly reconciliations: Reconciliations;
    readonly ledger: LedgerReads;
    /** For its routes. */
    readonly views: { readonly payments: PaymentViews; readonly wallet: WalletViews; readonly stats: StatsViews };
  };

const partsOf = (needs: PaymentsNeeds) => {
  const settler = new Settler(needs);
  const issuer = new InstrumentIssuer(needs);
  return {
    ...needs,
    settler,
    issuer,
    canceller: new Canceller({ ...needs, settler }),
    takeFacts: takeAcquirerFacts(needs),
    takeReturns: takeReturns(needs),
  };
};
type Parts = ReturnType<typeof partsOf>;

/** A single tenant gets at most a third of the places. */
const PLACES = { places: 24, perTarget: 24 };

const unhandledNotifications: OwedSource<PaymentsNeeds, NotificationKey> = ({ notifications }, { ageMs, page }) =>
  notifications.unhandled(ageMs, page);

/** Reconciliation pauses for tenants that created no charge for this long. It resumes where it stopped with their next charge. */
const ACTIVE_MS = 40 * DAY_MS;
/** Pause between two comparisons of the same tenant, by its own clock. */
const PAUSE_MS = 10 * MINUTE_MS;
/** A comparison dated further ahead than this came from a host with a wrong clock. */
const AHEAD_MS = HOUR_MS;

/**
 * Yields the tenants whose payments were not compared with the provider's list for PAUSE_MS. Progress is stored only after a comparison,
 * so the next look finds the tenants whose comparison was lost or failed.
 */
async function* tenantsToReconcile(needs: PaymentsNeeds): AsyncGenerator<readonly Tenant[]> {
  const { clock, payments, providers, reconciliations } = needs;
  const now = clock.now();
  const active = await payments.tenantsSince(fromMillis(now - ACTIVE_MS).slice(0, 10));
  const listed = await Promise.all(
    active.map(({ mode }) =>
      providers.of({ mode, connectionId: null }).then((one) => one?.paymentsBetween !== undefined),
    ),
  );
  const tenants = active.filter((_, i) => listed[i]);
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
      // Listing a day of payments is slow and not urgent.
      places: { places: 6, perTarget: 1 },
      idle: 'apart',
      // If the provider does not answer, one job retries, instead of a new job every minute.
      owed: owedBy(tenantsToReconcile, (tenant) => ({ tenant, payload: { ...tenant } })),
      routine: '45 * * * * *',
    }),
  ],
  gauges: [
    {
      name: 'disputes_account_rests',
      help: 'Pairs of account and currency with a nonzero balance on the disputes ledger account (`ledger check`).',
      read: async ({ ledger }) => (await ledger.disputesRests(null)).length,
    },
    {
      name: 'held_payments',
      help: 'Payments waiting for an operator (`held list`).',
      read: ({ payments }) => payments.countHeld(),
    },
  ],
  notifications: {
    payment: { handle: takePayment },
    fact: { handle: takeFact },
    return: { job: returnPayment },
  },
  useCases: (parts: Parts) => ({
    createCharge: new CreateChargeHandler(parts),
    createPayment: new CreatePaymentHandler(parts),
    cancelPayment: cancelPayment(parts),
    providerStatus: providerStatus(parts),
  }),
  operators: (needs: HeldNeeds) => heldPayments(needs),
});

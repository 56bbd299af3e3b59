// Payments: from the instruments that payers pay with to money that is settled, released, or sent back.
import { DAY_MS, fromMillis, HOUR_MS, MINUTE_MS } from '../../domain/kernel/time.ts';
import type { Accounts } from '../core/accounts.ts';
import { type Capability, each, job, type OwedSource, owedBy } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { takeProviderCases } from '../disputes/takeProviderCases.ts';
import type { Clock } from '../ports/clock.ts';
import type { OperatorAlerts } from '../ports/operatorAlerts.ts';
import type { PaymentProviders, Tenant } from '../ports/paymentProvider.ts';
import type { NotificationKey, ProviderNotifications } from '../ports/providerNotifications.ts';
import type { LedgerReads } from '../ports/readModels/ledger.ts';
import type { OverdueWork } from '../ports/readModels/overdueWork.ts';
import type { PaymentReads } from '../ports/readModels/payments.ts';
import type { Reconciliations } from '../ports/reconciliations.ts';
import type { Timers } from '../ports/timers.ts';
import { takeAcquirerFacts } from './acquirerOutcomes.ts';
import { Canceller, cancel, cancellation } from './cancellation.ts';
import { expire, expireCharge, expiry } from './expiry.ts';
import { fundsRelease, release, releaseFunds } from './fundsRelease.ts';
import { InstrumentIssuer, instrumentIssuing, issueInstruments, resumeIssuing } from './issueInstruments.ts';
import { owedOf } from './overdue.ts';
import { compareWithProvider, reconcile } from './reconciliation.ts';
import { rejectedPaymentReturn, returnPayment, sendBack } from './rejectedPaymentReturn.ts';
import { Settler, settle, settlementOf, settleNotification } from './settle.ts';

export interface PaymentsNeeds {
  readonly commands: CommandHandler;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly providers: PaymentProviders;
  readonly notifications: ProviderNotifications;
  readonly reconciliations: Reconciliations;
  readonly timers: Timers;
  readonly payments: PaymentReads;
  readonly overdue: OverdueWork;
  readonly ledger: LedgerReads;
  readonly alerts: OperatorAlerts;
}

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

export const payments: Capability<PaymentsNeeds> = {
  name: 'payments',
  processes: [instrumentIssuing, expiry, fundsRelease, rejectedPaymentReturn, cancellation],
  jobs: [
    job(settle, {
      handler: (needs: PaymentsNeeds) => {
        const issuer = new InstrumentIssuer(needs);
        return each(
          settleNotification({
            ...needs,
            settler: new Settler(needs),
            takeFacts: takeAcquirerFacts(needs),
            takeCases: takeProviderCases(needs),
            resumeIssuing: (id, method) => issuer.resumeFor(id, method),
          }),
        );
      },
      places: PLACES,
      idle: 'awaited',
      owed: owedBy(unhandledNotifications, settlementOf),
    }),
    job(returnPayment, {
      handler: (needs: PaymentsNeeds) => each(sendBack(needs)),
      places: PLACES,
      idle: 'awaited',
      owed: owedOf('returnPayment', (paymentId, { providerPaymentId }) => ({ paymentId, providerPaymentId })),
    }),
    job(issueInstruments, {
      handler: (needs: PaymentsNeeds) => {
        const issuer = new InstrumentIssuer(needs);
        return each(({ paymentId }) => issuer.issueAll(paymentId));
      },
      places: PLACES,
      idle: 'awaited',
      owed: owedOf('issueInstruments', (paymentId) => ({ paymentId })),
    }),
    job(resumeIssuing, {
      handler: (needs: PaymentsNeeds) => {
        const issuer = new InstrumentIssuer(needs);
        return each(({ paymentId }, dueAt) => issuer.resume(paymentId, dueAt));
      },
      places: PLACES,
      idle: 'apart',
      owed: owedOf('resumeIssuing', (paymentId) => ({ paymentId })),
    }),
    job(expire, {
      handler: (needs: PaymentsNeeds) => each(expireCharge({ ...needs, settler: new Settler(needs) })),
      places: PLACES,
      idle: 'apart',
      owed: owedOf('expire', (paymentId) => ({ paymentId })),
    }),
    job(releaseFunds, {
      handler: (needs: PaymentsNeeds) => each(release(needs)),
      places: PLACES,
      idle: 'apart',
      owed: owedOf('releaseFunds', (paymentId) => ({ paymentId })),
    }),
    job(cancel, {
      handler: (needs: PaymentsNeeds) => {
        const canceller = new Canceller({ ...needs, settler: new Settler(needs) });
        return each(({ paymentId }, dueAt) => canceller.run(paymentId, dueAt));
      },
      places: PLACES,
      idle: 'awaited',
      owed: owedOf('cancel', (paymentId) => ({ paymentId })),
    }),
    job(reconcile, {
      handler: (needs: PaymentsNeeds) => each(compareWithProvider(needs)),
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
};

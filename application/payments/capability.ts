// Payments: issuing instruments, settling and releasing the money, and returning it to the payer.

import { capability, each, job, type OwedSource, owedBy, runAll } from '../core/capability.ts';
import type { NeedsOf } from '../core/useCase.ts';
import { takeReturns } from '../disputes/takeReturns.ts';
import type { NotificationKey } from '../ports/providerNotifications.ts';
import type { PaymentReads, PaymentViews } from '../ports/readModels/payments.ts';
import type { StatsViews, WalletViews } from '../ports/readModels/views.ts';
import { takeAcquirerFacts } from './acquirerOutcomes.ts';
import { Canceller, cancel, cancellation, cancelPayment } from './cancellation.ts';
import { CreateChargeHandler, CreatePaymentHandler } from './create.ts';
import { expire, expireCharge, expiry } from './expiry.ts';
import { exportPayments } from './exportPayments.ts';
import { fundsRelease, release, releaseFunds } from './fundsRelease.ts';
import { type HeldNeeds, heldPayments } from './heldPayments.ts';
import { InstrumentIssuer, instrumentIssuing, issueInstruments, resumeIssuing } from './issueInstruments.ts';
import { owedOf } from './overdue.ts';
import { providerStatus } from './providerStatus.ts';
import { compareWithProviders, type ReconciliationNeeds } from './reconciliation.ts';
import { rejectedPaymentReturn, returnPayment, sendBack } from './rejectedPaymentReturn.ts';
import { handleNotification, Settler, settle, settlementOf, takeFact, takePayment } from './settle.ts';

type PaymentsNeeds = ConstructorParameters<typeof Settler>[0] &
  ConstructorParameters<typeof InstrumentIssuer>[0] &
  Omit<ConstructorParameters<typeof Canceller>[0], 'settler'> &
  Omit<ConstructorParameters<typeof CreateChargeHandler>[0], 'issuer'> &
  Omit<NeedsOf<typeof handleNotification>, 'settler'> &
  ReconciliationNeeds &
  NeedsOf<typeof takeAcquirerFacts | typeof takeReturns | typeof sendBack | typeof providerStatus> & {
    readonly payments: PaymentReads;
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
/** A settlement mostly waits for the institution. A third of these places equals the number of connections to one institution. */
const SETTLEMENT_PLACES = { places: 96, perTarget: 96 };

const unhandledNotifications: OwedSource<PaymentsNeeds, NotificationKey> = ({ notifications }, { ageMs, page }) =>
  notifications.unhandled(ageMs, page);

export const payments = capability({
  name: 'payments',
  parts: partsOf,
  processes: [instrumentIssuing, expiry, fundsRelease, rejectedPaymentReturn, cancellation],
  jobs: [
    job(settle, {
      handler: (parts: Parts) => each(handleNotification(parts)),
      places: SETTLEMENT_PLACES,
      idle: 'awaited',
      owed: owedBy(unhandledNotifications, settlementOf),
    }),
    job(returnPayment, {
      handler: (parts: Parts) => ({
        run: (payloads, _target, mayBeRepeat) => runAll(payloads, (one) => sendBack(parts)(one, mayBeRepeat)),
      }),
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
  ],
  upkeep: [
    {
      failure: 'payments at providers could not be compared',
      pattern: '45 * * * * *',
      onlyLeader: true,
      run: (parts: Parts) => compareWithProviders(parts)(),
    },
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
    exportPayments: exportPayments(parts),
  }),
  operators: (needs: HeldNeeds) => heldPayments(needs),
});

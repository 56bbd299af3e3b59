// The reactions of each process manager to each event. They must be pure, exact and repeatable (architecture §7).

import { expect } from 'chai';
import { CAPABILITIES, PROCESSES } from '../../application/capabilities.ts';
import { expiry } from '../../application/payments/expiry.ts';
import { fundsRelease } from '../../application/payments/fundsRelease.ts';
import { instrumentIssuing } from '../../application/payments/issueInstruments.ts';
import { rejectedPaymentReturn } from '../../application/payments/rejectedPaymentReturn.ts';
import type { Subscriptions } from '../../application/ports/subscriptions.ts';
import { webhookDelivery } from '../../application/webhooks/webhookDelivery.ts';
import { webhookFanOut } from '../../application/webhooks/webhookFanOut.ts';
import { CATEGORIES } from '../../domain/aggregates.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import type { PaymentEvent } from '../../domain/payment/payment.ts';
import {
  type Answers,
  attemptFailed,
  DELIVERY,
  ENDPOINT,
  job,
  LATER,
  LOG,
  logged,
  REVISION,
  reactions,
  TOMORROW,
  timer,
} from '../support/reactionLog.ts';
import {
  ACCOUNT_ID,
  at,
  created,
  EXPIRES_AT,
  issued,
  PAYMENT_ID,
  processing,
  sentBack,
  settled,
} from '../support/samples.ts';
import { SERDE } from '../support/serde.ts';

interface OfCapability {
  readonly ANSWERS: Answers;
  /** The events for which endpoints receive messages. */
  readonly TOLD?: readonly string[];
}
/** Each capability with processes defines their expected reactions next to its other tests. */
const ALL: readonly OfCapability[] = await Promise.all(
  CAPABILITIES.filter(({ processes }) => processes.length > 0).map(
    ({ name }): Promise<OfCapability> => import(`./${name}/answers.ts`),
  ),
);
const ANSWERS: Answers = Object.assign({}, ...ALL.map((one) => one.ANSWERS));
const TOLD = ALL.flatMap((one) => one.TOLD ?? []);

describe('reactions', () => {
  it('are tested for every process manager', () =>
    void expect(Object.keys(ANSWERS).sort()).to.deep.equal(PROCESSES.map(({ name }) => name).sort()));

  it('are tested with every event type except those of keys, users, consumers and provider connections', () => {
    const types = CATEGORIES.filter(
      (category) => !['keyring', 'user', 'logConsumer', 'providerConnection'].includes(category),
    ).flatMap((category) => SERDE[category].types);
    expect([...new Set(Object.values(LOG).map(({ event }) => event.type))].sort()).to.deep.equal([...types].sort());
  });

  for (const process of PROCESSES) {
    const answers = ANSWERS[process.name] ?? {};
    describe(`of ${process.name}`, () => {
      for (const [name, event] of Object.entries(LOG))
        it(`are ${(answers[name] ?? []).length} for: ${name}`, () =>
          void expect(reactions(process, event)).to.deep.equal(answers[name] ?? []));
      it('are expected only for events in the log', () =>
        void expect(LOG).to.include.all.keys('charge created', ...Object.keys(answers)));
      it('are expected only for categories that the process follows', () => {
        const answered = Object.keys(answers).map((name) => LOG[name]!.category);
        expect(process.categories).to.include.members(answered);
      });
    });
  }

  it('set timers in the mode of the event', () => {
    for (const [process, event, expected] of [
      [expiry, issued(), timer('expire', PAYMENT_ID, EXPIRES_AT, null, 'live')],
      [fundsRelease, settled({ availableAt: TOMORROW }), timer('releaseFunds', PAYMENT_ID, TOMORROW, null, 'live')],
      [
        instrumentIssuing,
        created(),
        { ...timer('resumeIssuing', PAYMENT_ID, at('13:01:00'), null, 'live'), first: true },
      ],
    ] as const)
      expect(reactions(process, logged('payment', event, 'live'))).to.deep.equal([expected]);
    expect(reactions(webhookDelivery, logged('webhookDelivery', attemptFailed(LATER), 'live'))).to.deep.equal([
      timer('deliver', DELIVERY, LATER, ENDPOINT, 'live'),
    ]);
  });

  it('return the Pix named in the event, not another one of the same payment', () => {
    for (const providerPaymentId of ['E-one', 'E-two'])
      expect(
        reactions(rejectedPaymentReturn, logged('payment', sentBack('second_payment', { providerPaymentId }))),
      ).to.deep.equal([job('returnPayment', { paymentId: PAYMENT_ID, providerPaymentId })]);
  });

  describe('of webhookFanOut with subscribers', () => {
    const fanOutTo = (...endpointIds: string[]) =>
      job('fanOut', { stream: PAYMENT.stream(PAYMENT_ID), revision: REVISION, endpointIds });
    const asked: string[] = [];
    const listening = (...ids: string[]): Subscriptions => ({
      endpoints: (account, mode) => {
        asked.push(`${account} ${mode}`);
        return ids.map((endpointId) => ({ endpointId, events: ['*'] }));
      },
      hasWebhookUrls: () => false,
    });
    beforeEach(() => void asked.splice(0));
    for (const [name, event] of Object.entries(LOG)) {
      const stream = `${event.category}-${event.subject}`;
      const payload = { stream, revision: REVISION, endpointIds: ['a', 'b'] };
      const expected = TOLD.includes(name) ? [job('fanOut', payload)] : [];
      it(`are ${expected.length} for: ${name}`, () =>
        void expect(reactions(webhookFanOut, event, listening('a', 'b'))).to.deep.equal(expected));
    }
    it('are jobs even without endpoints if payments of the account and mode have a webhookUrl', () => {
      const withUrls = (mode: string): Subscriptions => ({
        endpoints: () => [],
        hasWebhookUrls: (account, asked) => account === ACCOUNT_ID && asked === mode,
      });
      expect(reactions(webhookFanOut, logged('payment', settled()), withUrls('test'))).to.deep.equal([fanOutTo()]);
      expect(reactions(webhookFanOut, logged('payment', settled()), withUrls('live'))).to.deep.equal([]);
      expect(reactions(webhookFanOut, logged('payment', created()), withUrls('test'))).to.deep.equal([]);
    });
    it('omit endpoints that are not subscribed to a frequent event’s messages, unless a payment can have its own URL', () => {
      const subscribed = (hasUrls: boolean, ...lists: string[][]): Subscriptions => ({
        endpoints: () => lists.map((events, n) => ({ endpointId: `${n}`, events })),
        hasWebhookUrls: () => hasUrls,
      });
      const of = (event: PaymentEvent, subscriptions: Subscriptions) =>
        reactions(webhookFanOut, logged('payment', event), subscriptions);
      const lists = [['charge.paid'], ['charge.expired', 'payment.created'], ['*'], ['charge.created']];
      expect(of(issued(), subscribed(false, ...lists))).to.deep.equal([fanOutTo('1', '2', '3')]);
      expect(of(settled(), subscribed(false, ...lists))).to.deep.equal([fanOutTo('0', '2')]);
      expect(of(issued(), subscribed(false, ['charge.paid']))).to.deep.equal([]);
      expect(of(issued(), subscribed(true, ['charge.paid']))).to.deep.equal([fanOutTo()]);
      expect(of(processing(), subscribed(false, ['charge.paid']))).to.deep.equal([fanOutTo('0')]);
    });
    it('use the endpoints of the event’s account and mode', () => {
      for (const mode of ['test', 'live']) {
        const event = logged('payment', settled(), mode);
        expect(webhookFanOut.react(event, listening('a'))).to.deep.equal([fanOutTo('a')]);
      }
      expect(asked).to.deep.equal([`${ACCOUNT_ID} test`, `${ACCOUNT_ID} live`]);
    });
  });
});

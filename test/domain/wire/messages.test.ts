import { expect } from 'chai';
import { fold } from '../../../domain/kernel/decider.ts';
import type { EventId } from '../../../domain/kernel/ids.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { isCatalogued } from '../../../domain/wire/catalogue.ts';
import { chargeView } from '../../../domain/wire/charge.ts';
import { API_VERSION, messagesOf } from '../../../domain/wire/messages.ts';
import {
  created,
  expired,
  failed,
  held,
  issued,
  PAYMENT_ID,
  paymentAfter,
  released,
  returned,
  sentBack,
  settled,
} from '../../support/samples.ts';

const EVENT_ID = '00000000000000000000000005' as EventId;
const OPEN = [created(), issued()];
const BACK = [...OPEN, sentBack('payer_mismatch')];

interface Row {
  readonly before: readonly PaymentEvent[];
  readonly event: PaymentEvent;
  readonly at: string;
  /** Names of the canonical family, then of the legacy family, in order of sending. */
  readonly canonical: readonly string[];
  readonly legacy: readonly string[];
  readonly status: string;
  readonly previousStatus: string;
  readonly paid?: true;
}
const row = (
  before: readonly PaymentEvent[],
  event: PaymentEvent,
  at: string,
  rest: Omit<Row, 'before' | 'event' | 'at'>,
): Row => ({
  before,
  event,
  at: `2026-11-21T${at}.000Z`,
  ...rest,
});
const settles = {
  canonical: ['charge.paid'],
  legacy: ['payment.completed', 'payment.status_changed'],
  paid: true as const,
};

/** decisions W9 and W9a, row by row, as far as there are such transitions. */
const W9: Readonly<Record<string, Row>> = {
  created: row([created()], issued(), '13:00:00', {
    canonical: ['charge.created'],
    legacy: ['payment.created'],
    status: 'WAITING_PAYMENT',
    previousStatus: 'WAITING_PAYMENT', // W10
  }),
  'settled (PAID)': row(OPEN, settled(), '13:05:01', { ...settles, status: 'PAID', previousStatus: 'WAITING_PAYMENT' }),
  'settled (APPROVED)': row(OPEN, settled({ method: 'CREDIT_CARD' }), '13:05:01', {
    ...settles,
    status: 'APPROVED',
    previousStatus: 'WAITING_PAYMENT',
  }),
  'settled after it expired': row([...OPEN, expired()], settled(), '13:05:01', {
    ...settles,
    status: 'PAID',
    previousStatus: 'EXPIRED',
  }),
  'creation failed at the provider': row([created()], failed(), '13:00:00', {
    canonical: ['charge.failed'],
    legacy: ['payment.failed', 'payment.status_changed'],
    status: 'REFUSED',
    previousStatus: 'PENDING',
  }),
  expired: row(OPEN, expired(), '14:00:00', {
    canonical: ['charge.expired'],
    legacy: ['payment.expired', 'payment.failed', 'payment.status_changed'],
    status: 'EXPIRED',
    previousStatus: 'WAITING_PAYMENT',
  }),
  'payer-lock return': row(BACK, returned(), '13:05:02', {
    canonical: [],
    legacy: ['payment.refunded', 'payment.status_changed'],
    status: 'REFUNDED',
    previousStatus: 'PROCESSING',
  }),
  'payer lock violated': row(OPEN, sentBack('payer_mismatch'), '13:05:01', {
    canonical: [],
    legacy: ['payment.status_changed'],
    status: 'PROCESSING',
    previousStatus: 'WAITING_PAYMENT',
  }),
  'held for review': row(OPEN, held(), '13:05:01', {
    canonical: [],
    legacy: ['payment.status_changed'],
    status: 'PROCESSING',
    previousStatus: 'WAITING_PAYMENT',
  }),
};

const transition = (before: readonly PaymentEvent[], event: PaymentEvent) => {
  const earlier = fold(payment, before);
  return messagesOf(earlier, event, payment.evolve(earlier, event));
};
const textsOf = ({ before, event }: Pick<Row, 'before' | 'event'>) =>
  transition(before, event).map(({ type, family, at, render }) => ({ type, family, at, body: render(EVENT_ID) }));

const canonicalBody = ({ before, event, at }: Row, type: string) =>
  JSON.stringify({
    id: 'evt_00000000000000000000000005',
    object: 'event',
    api_version: '2026-11-01',
    type,
    created_at: at,
    data: { object: chargeView(paymentAfter(...before, event)) },
  });
const legacyBody = ({ event, at, status, previousStatus, paid }: Row, name: string) =>
  JSON.stringify({
    event: name,
    data: {
      transactionId: `tx_${PAYMENT_ID}`,
      amount: 12_345,
      status,
      previousStatus,
      ...(paid &&
        event.type === 'TransactionSettled' && {
          paidWith: event.data.method,
          providerFee: 10,
          platformFee: 123,
          netAmount: 12_212,
        }),
      occurredAt: at,
    },
  });

describe('messagesOf: the table of W9', () => {
  for (const [name, told] of Object.entries(W9))
    it(`${name}: ${[...told.canonical, ...told.legacy].join(', ')}`, () => {
      expect(textsOf(told)).to.deep.equal([
        ...told.canonical.map((type) => ({ type, family: 'canonical', at: told.at, body: canonicalBody(told, type) })),
        ...told.legacy.map((type) => ({ type, family: 'legacy', at: told.at, body: legacyBody(told, type) })),
      ]);
    });

  it('tells of created only once there is an instrument, also when both were appended together', () => {
    expect(transition([], created())).to.deep.equal([]);
    expect(textsOf({ before: [created()], event: issued() }).map(({ type }) => type)).to.deep.equal([
      'charge.created',
      'payment.created',
    ]);
  });
  const silent: readonly (readonly [string, readonly PaymentEvent[], PaymentEvent])[] = [
    ['the release of funds', [...OPEN, settled()], released()],
    ['a wrong amount', OPEN, sentBack('wrong_amount')],
    ['a wrong amount that went back', [...OPEN, sentBack('wrong_amount')], returned()],
    ['a second Pix', [...OPEN, settled()], sentBack('second_payment', { endToEndId: 'E2' })],
    ['a late Pix', [...OPEN, expired()], sentBack('charge_ended')],
    ['the return after the payer lock, repeated', [...BACK, returned()], returned()],
  ];
  for (const [name, before, event] of silent)
    it(`tells nobody of ${name}`, () => expect(transition(before, event)).to.deep.equal([]));
  it('tells nothing of a payment that was never created', () => {
    expect(transition([], settled())).to.deep.equal([]);
  });

  it('puts the merchant’s customerId last in legacy envelopes when it was sent (W10)', () => {
    const [, legacy] = textsOf({ before: [created({ customerId: 'user-7' })], event: issued() });
    const data = {
      transactionId: `tx_${PAYMENT_ID}`,
      amount: 12_345,
      status: 'WAITING_PAYMENT',
      previousStatus: 'WAITING_PAYMENT',
      occurredAt: '2026-11-21T13:00:00.000Z',
      customerId: 'user-7',
    };
    expect(legacy?.body).to.equal(JSON.stringify({ event: 'payment.created', data }));
  });
  it('sends names of the catalogue only', () => {
    for (const told of Object.values(W9))
      for (const { type } of transition(told.before, told.event)) expect(isCatalogued(type), type).to.equal(true);
  });
  it('is of the API version of I13', () => expect(API_VERSION).to.equal('2026-11-01'));
});

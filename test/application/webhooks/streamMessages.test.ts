// Messages rendered from payment events are the same for every reader and numbered across the payment (rules W2, W8).

import { expect } from 'chai';
import { StreamMessages } from '../../../application/webhooks/streamMessages.ts';
import { AGGREGATES } from '../../../domain/aggregates.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { expire } from '../../../domain/payment/lifecycle.ts';
import type { Delivery } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { type Core, openCore, why } from '../../support/core.ts';
import { CREATED_AT, EXPIRES_AT } from '../../support/samples.ts';

const ENDED = 2;

describe('messages of payments', () => {
  let core: Core;
  let read: string[];
  let messages: StreamMessages;
  before(async () => {
    core = await openCore();
  });
  after(() => core.close());
  beforeEach(() => {
    read = [];
    core.spies.onRead = (stream) => void read.push(stream);
    messages = new StreamMessages(core.commands, AGGREGATES);
  });
  /** Returns a payment that was created, issued and expired. */
  const expiredPayment = async (): Promise<PaymentId> => {
    const id = await core.openCharge();
    await core.commands.record(PAYMENT, PAYMENT.stream(id), expire(EXPIRES_AT), why(core.account.accountId));
    read = [];
    return id;
  };
  const delivery = (paymentId: PaymentId, revision: number, eventType: string, form = 1): Delivery => ({
    stream: PAYMENT.stream(paymentId),
    revision,
    paymentId,
    eventType,
    endpointId: null,
    resend: 0,
    scheduledAt: CREATED_AT,
    form,
  });

  it('are numbered across the whole payment, whichever event is requested first', async () => {
    const id = await expiredPayment();
    const numbered = async (revision: number) =>
      (await messages.at(PAYMENT.stream(id), revision)).messages.map(({ type, sequence }) => [sequence, type]);
    expect(await numbered(ENDED)).to.deep.equal([
      [3, 'charge.expired'],
      [4, 'payment.expired'],
      [5, 'payment.failed'],
      [6, 'payment.status_changed'],
    ]);
    expect(await numbered(1)).to.deep.equal([
      [1, 'charge.created'],
      [2, 'payment.created'],
    ]);
    expect(await numbered(0)).to.deep.equal([]);
  });
  it('of one event are rendered once', async () => {
    const id = await expiredPayment();
    const [one, other] = await Promise.all([
      messages.at(PAYMENT.stream(id), ENDED),
      messages.at(PAYMENT.stream(id), ENDED),
    ]);
    expect(one).to.equal(other);
    const { message } = await messages.of(delivery(id, ENDED, 'charge.expired'));
    expect(message).to.equal(one.messages[0]);
    expect(read).to.deep.equal([PAYMENT.stream(id)]);
  });
  it('show the payment’s state at the time of the event', async () => {
    const id = await expiredPayment();
    const statusIn = (body: string) =>
      (JSON.parse(body) as { data: { object: { status: string } } }).data.object.status;
    const then = (await messages.of(delivery(id, 1, 'charge.created'))).message.body;
    const now = (await messages.of(delivery(id, ENDED, 'charge.expired'))).message.body;
    expect([statusIn(then), statusIn(now)]).to.deep.equal(['pending', 'expired']);
  });
  it('of several deliveries are returned in their order, and each payment is read once', async () => {
    const [a, b] = [await expiredPayment(), await expiredPayment()];
    const asked = [
      delivery(a, ENDED, 'payment.failed'),
      delivery(b, 1, 'charge.created'),
      delivery(a, 1, 'payment.created'),
      delivery(a, ENDED, 'payment.failed'),
    ];
    const bodies = await messages.bodiesOf(asked);
    expect(read.toSorted()).to.deep.equal([a, b].map(PAYMENT.stream).toSorted());
    const alone = await Promise.all(asked.map(async (one) => (await messages.of(one)).message.body));
    expect(bodies).to.deep.equal(alone);
    expect(await messages.bodiesOf([])).to.deep.equal([]);
  });
  it('throw for an unknown event, message or form', async () => {
    const id = await expiredPayment();
    for (const [asked, fault] of [
      [delivery(id, 9, 'charge.created'), /no event 9/],
      [delivery(id, 1, 'charge.paid'), /no message charge.paid/],
      [delivery(id, 1, 'charge.created', 99), /form 99/],
    ] as const)
      await messages.of(asked).then(
        () => expect.fail(),
        (error: Error) => expect(error.message).to.match(fault),
      );
  });
});

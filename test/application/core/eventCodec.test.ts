import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { type EventsToEncode, UnreadableEvent } from '../../../application/ports/eventCodec.ts';
import type { NewEvent, Position, RecordedEvent } from '../../../application/ports/eventStore.ts';
import type { EventMetadata } from '../../../application/ports/loggedEvent.ts';
import { CATEGORIES } from '../../../domain/aggregates.ts';
import type { ChargeTerms } from '../../../domain/charge/charge.ts';
import type { Fact } from '../../../domain/kernel/decider.ts';
import type { AccountId, ConnectionId, DeliveryId, PaymentId, StreamName } from '../../../domain/kernel/ids.ts';
import type { Serde } from '../../../domain/kernel/serde.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import { WEBHOOK_DELIVERY } from '../../../domain/webhookDelivery/webhookDelivery.ts';
import { anyEventOf } from '../../support/arbitraries.ts';
import { openedText, testCodec } from '../../support/dataKeys.ts';
import { ACCOUNT_ID, at, expired, failed, issued, PAYMENT_ID, terms } from '../../support/samples.ts';
import { type AnyEvent, SERDE } from '../../support/serde.ts';

const why: EventMetadata = {
  account: ACCOUNT_ID,
  mode: 'test',
  actor: 'process:expiry',
  requestId: null,
  correlationId: 'c',
  causationId: 'd',
};
const STREAM = PAYMENT.stream(PAYMENT_ID);
const appendOf = (commandId: string, ...events: readonly PaymentEvent[]): EventsToEncode<PaymentEvent> => ({
  serde: PAYMENT.serde,
  stream: STREAM,
  after: -1,
  events,
  commandId,
  metadata: why,
});
const recordedAs = (event: NewEvent, stream: StreamName = STREAM, revision = 0): RecordedEvent => ({
  ...event,
  stream,
  revision,
  position: String(revision + 1) as Position,
  recordedAt: '2026-11-21T13:00:00.000Z',
});

describe('the encoding of events', () => {
  const idsOf = async (commandId: string, ...events: PaymentEvent[]) =>
    (await testCodec().encode(appendOf(commandId, ...events))).map(({ id }) => id);

  it('contains the stored form and the metadata', async () => {
    expect(await testCodec().encode(appendOf('command-1', expired()))).to.deep.equal([
      {
        id: '7ec5d65f-3af3-80c6-a44d-2d76cea3d4f8',
        type: 'ChargeExpired',
        data: '{"at":"2026-11-21T14:00:00.000Z"}',
        metadata: `{"account":"${ACCOUNT_ID}","mode":"test","actor":"process:expiry","$correlationId":"c","$causationId":"d"}`,
      },
    ]);
  });
  it('uses the same event ids for the same command', async () =>
    expect(await idsOf('command-1', expired())).to.deep.equal(await idsOf('command-1', expired())));
  it('derives event ids from the command, the index and the bytes', async () => {
    expect(await idsOf('command-2', expired())).to.deep.equal(['d9a67c6d-d5c0-80d1-ab80-ef0abc28d77f']);
    expect((await idsOf('command-1', failed(), expired()))[1]).to.equal('31295cc4-ee23-8837-a42b-909a57be3291');
    expect(await idsOf('command-1', expired(at('14:00:01')))).to.not.deep.equal(await idsOf('command-1', expired()));
  });
});

describe('the fields that the event codec omits', () => {
  const stored = async <Event extends Fact<string, unknown>>(
    { serde }: { readonly serde: Serde<Event> },
    stream: StreamName,
    event: Event,
    metadata: EventMetadata,
  ) => {
    const append = { serde, stream, after: -1, events: [event], commandId: 'command', metadata };
    const [encoded] = await testCodec().encode(append);
    const { type, data: text, metadata: around } = encoded as NewEvent;
    const data = JSON.parse(text) as { readonly sealed?: string };
    const sealed = data.sealed && {
      sealed: JSON.parse(openedText(metadata.correlationId, `${stream}\n${type}`, data.sealed)) as unknown,
    };
    return { data: { ...data, ...sealed }, metadata: JSON.parse(around) as unknown };
  };
  const request: EventMetadata = {
    ...why,
    actor: 'key:1',
    requestId: 'req_1',
    correlationId: PAYMENT_ID,
    causationId: 'req_1',
  };

  const creation = (over: Partial<ChargeTerms> = {}) =>
    ({ type: 'ChargeCreated', data: { ...terms(over), fingerprint: { version: 1, hash: 'hash' } } }) as const;

  it('are a charge’s ids, mode and null fields, and the metadata that repeats the stream’s subject and the request', async () => {
    const event = creation();
    const { paymentId: _, accountId: __, mode: ___, connectionId, ...terms } = event.data;
    const { customerId, expectedPayerTaxId, webhookUrl, customer: whole, metadata, ...said } = terms;
    const { phone, ...customer } = whole;
    expect([connectionId, customerId, expectedPayerTaxId, webhookUrl, phone]).to.deep.equal(Array(5).fill(null));
    expect(await stored(PAYMENT, STREAM, event, request)).to.deep.equal({
      data: { ...said, sealed: { customer, metadata } },
      metadata: { account: ACCOUNT_ID, mode: 'test', actor: 'key:1', $causationId: 'req_1' },
    });
  });

  it('are none for a charge with all fields set, in the stream and account of another', async () => {
    const connectionId = '0c0nn000000000000000000001' as ConnectionId;
    const filled = { connectionId, customerId: 'c', expectedPayerTaxId: 't', webhookUrl: 'https://a.example/' };
    const event = creation({ ...filled, customer: { name: 'n', document: null, email: null, phone: 'p' } });
    const elsewhere = { ...request, account: 'other' as AccountId, mode: 'live', requestId: 'req_2' } as const;
    const { customer, customerId, metadata, expectedPayerTaxId, ...open } = event.data;
    expect(await stored(PAYMENT, PAYMENT.stream('another' as PaymentId), event, elsewhere)).to.deep.equal({
      data: { ...open, sealed: { customer, customerId, metadata, expectedPayerTaxId } },
      metadata: {
        account: 'other',
        mode: 'live',
        actor: 'key:1',
        requestId: 'req_2',
        $correlationId: PAYMENT_ID,
        $causationId: 'req_1',
      },
    });
  });

  it('are a delivery’s payment and default values, and the causation id that equals the correlation id', async () => {
    const delivery = {
      stream: PAYMENT.stream(PAYMENT_ID),
      revision: 2,
      paymentId: PAYMENT_ID,
      eventType: 'charge.paid',
      endpointId: null,
      resend: 0,
      scheduledAt: at('13:00:00'),
      form: 1,
    };
    const taken = { number: 1, at: at('13:00:01'), statusCode: 200, durationMs: 5 };
    const metadata = { ...why, correlationId: PAYMENT_ID, causationId: PAYMENT_ID };
    const stream = WEBHOOK_DELIVERY.stream('1'.repeat(26) as DeliveryId);
    const event = { type: 'WebhookDeliverySucceeded', data: { ...taken, delivery } } as const;
    const { number: _, statusCode: __, ...saidOfAttempt } = taken;
    const { stream: ___, paymentId: ____, resend: _____, form: ______, ...said } = delivery;
    expect(await stored(WEBHOOK_DELIVERY, stream, event, metadata)).to.deep.equal({
      data: { ...saidOfAttempt, delivery: said },
      metadata: { account: ACCOUNT_ID, mode: 'test', actor: 'process:expiry', $correlationId: PAYMENT_ID },
    });
    const others = { number: 2, statusCode: 204 };
    const resent = { ...event, data: { ...taken, ...others, delivery: { ...delivery, resend: 3, form: 2 } } };
    expect((await stored(WEBHOOK_DELIVERY, stream, resent, metadata)).data).to.deep.equal({
      ...saidOfAttempt,
      ...others,
      delivery: { ...said, resend: 3, form: 2 },
    });
  });
});

describe('the decoding of events', () => {
  for (const category of CATEGORIES)
    it(`gives the same result in the encoding codec and in another one, including the field order: ${category}`, () =>
      fc.assert(
        fc.asyncProperty(anyEventOf(SERDE[category].types), async (event: AnyEvent) => {
          const stream = `${category}-${'0'.repeat(26)}` as StreamName;
          const codec = testCodec();
          const append = {
            serde: SERDE[category],
            stream,
            after: -1,
            events: [event],
            commandId: randomUUID(),
            metadata: why,
          };
          const [encoded] = await codec.encode(append);
          const recorded = recordedAs(encoded as NewEvent, stream);
          const here = await codec.decode([recorded]);
          const elsewhere = await testCodec().decode([recorded]);
          expect(JSON.stringify(here)).to.equal(JSON.stringify(elsewhere));
        }),
      ));

  it('happens once per recorded event in the codec that encoded it', async () => {
    const codec = testCodec();
    const [encoded] = await codec.encode(appendOf('command-1', issued()));
    const recorded = recordedAs(encoded as NewEvent);
    const [first] = await codec.decode([recorded]);
    const [again, copy] = await codec.decode([recorded, { ...recorded }]);
    expect([again === first, copy === first]).to.deep.equal([true, false]);
    expect(copy).to.deep.equal(first);
  });

  it('does not parse the text in the codec that encoded it', async () => {
    const codec = testCodec();
    const [encoded] = await codec.encode(appendOf('command-1', issued()));
    const withoutText = { ...recordedAs(encoded as NewEvent), data: '' };
    const [known] = await codec.decode([withoutText]);
    expect(known instanceof UnreadableEvent ? known.reason.message : known?.event).to.deep.equal(issued());
    const [elsewhere] = await testCodec().decode([withoutText]);
    expect(elsewhere).to.be.instanceOf(UnreadableEvent);
  });

  it('reports which events are unreadable and why, without quoting them, and returns the others', async () => {
    const codec = testCodec();
    const [good] = await codec.encode(appendOf('command-1', issued()));
    const bad = (change: Partial<RecordedEvent>) => ({ ...recordedAs(good as NewEvent), id: randomUUID(), ...change });
    const decoded = await codec.decode([
      bad({ type: 'ChargeMelted' }),
      recordedAs(good as NewEvent),
      bad({ data: '{"name":"MARIA' }),
      bad({ metadata: JSON.stringify({ account: ACCOUNT_ID, mode: 'test', v: 2 }) }),
      bad({ stream: 'nothing-1' as StreamName }),
    ]);
    expect(decoded.map((one) => (one instanceof UnreadableEvent ? one.reason.message : one.event.type))).to.deep.equal([
      'ChargeMelted: expected a known event type',
      'ChargePixIssued',
      'ChargePixIssued: SyntaxError while decoding',
      'ChargePixIssued: expected a version from 1 to 1, not 2',
      'nothing-1: unknown category',
    ]);
  });
});

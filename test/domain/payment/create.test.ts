import type { AcquirerInstrument } from '../../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import { type CreateCharge, createCharge, type Issuance, recordIssuances } from '../../../domain/payment/create.ts';
import { type PaymentEvent, payment } from '../../../domain/payment/payment.ts';
import { given } from '../../support/given.ts';
import {
  at,
  CREATED_AT,
  cancelled,
  cancelRequested,
  created,
  expired,
  failed,
  instrument,
  issued,
  refusedInstrument,
  settled,
  terms,
} from '../../support/samples.ts';
import { boleto, card, otherIssued } from '../../world/instruments.ts';

const creation = (over: Partial<CreateCharge> = {}): CreateCharge => ({
  terms: terms(),
  fingerprintUnder: (version) => (version === 1 ? 'hash-of-the-request' : 'of-another-rule'),
  fingerprintVersion: 1,
  instrument: null,
  keyParam: 'Idempotency-Key',
  ...over,
});
const withOtherContent = creation({ fingerprintUnder: () => 'hash-of-another-request' });

describe('createCharge', () => {
  it('stores the intent when the provider must be asked', () => {
    given(payment).when(createCharge(creation())).then(created(), 'created').again('replayed');
  });
  it('stores intent and instrument together when nobody must be asked', () => {
    given(payment)
      .when(createCharge(creation({ instrument: instrument() })))
      .then(created(), issued(), 'created')
      .again('replayed');
  });
  it('is the original, whatever became of it', () => {
    given(payment, created()).when(createCharge(creation())).then('replayed');
    given(payment, created(), issued(), settled()).when(createCharge(creation())).then('replayed');
    given(payment, created(), issued(), expired()).when(createCharge(creation())).then('replayed');
    given(payment, created(), failed()).when(createCharge(creation())).then('replayed');
    given(payment, created(), cancelRequested(), cancelled()).when(createCharge(creation())).then('replayed');
  });
  it('with other content is refused', () => {
    given(payment, created())
      .when(createCharge(withOtherContent))
      .rejected('idempotency_key_reused', 'Idempotency-Key');
    given(payment, created(), failed())
      .when(createCharge(withOtherContent))
      .rejected('idempotency_key_reused', 'Idempotency-Key');
  });
  it('with other content and the key in the body, the refusal names the field of the body (K6)', () => {
    given(payment, created())
      .when(createCharge({ ...withOtherContent, keyParam: 'idempotencyKey' }))
      .rejected('idempotency_key_reused', 'idempotencyKey');
  });
  it('compares under the rule version that the first request was stored under (K2)', () => {
    const newer = creation({ fingerprintVersion: 2 });
    given(payment, created()).when(createCharge(newer)).then('replayed');
    given(payment)
      .when(createCharge(newer))
      .then(
        { type: 'ChargeCreated', data: { ...terms(), fingerprint: { version: 2, hash: 'of-another-rule' } } },
        'created',
      );
  });
});

const pix = (over: Parameters<typeof instrument>[0] = {}): Issuance => ({
  method: 'PIX',
  instrument: instrument(over),
});
const other = (one: AcquirerInstrument): Issuance => ({ method: one.method, instrument: one });
const NO = { reason: 'The bank said no.', providerErrorCode: 'declined' };
const no = (method: PaymentMethod): Issuance => ({ method, refused: NO });
const record = (...issuances: readonly Issuance[]) => recordIssuances(issuances, CREATED_AT);

describe('recordIssuances, of a charge by Pix', () => {
  it('makes the charge payable, once', () => {
    given(payment, created()).when(record(pix())).then(issued(), 'recorded').again('nothing');
  });
  it('with other content keeps the first instrument', () => {
    given(payment, created(), issued())
      .when(record(pix({ brCode: 'another' })))
      .then('nothing');
  });
  it('with the refusal ends the charge, once', () => {
    given(payment, created())
      .when(record(no('PIX')))
      .then(failed(), 'recorded')
      .again('nothing');
  });
  it('with another refusal keeps the first reason', () => {
    const later = recordIssuances(
      [{ method: 'PIX', refused: { reason: 'Other.', providerErrorCode: 'other' } }],
      at('13:01:00'),
    );
    given(payment, created(), failed()).when(later).then('nothing');
  });
  it('does not undo an instrument', () =>
    given(payment, created(), issued())
      .when(record(no('PIX')))
      .then('nothing'));
  const over: readonly (readonly [string, readonly PaymentEvent[]])[] = [
    ['failed', [created(), failed()]],
    ['expired', [created(), issued(), expired()]],
    ['cancelled before there was an instrument', [created(), cancelRequested(), cancelled()]],
  ];
  for (const [name, history] of over)
    it(`comes too late for a charge that has ended: ${name}`, () => {
      given(payment, ...history)
        .when(record(pix()))
        .then('nothing');
      given(payment, ...history)
        .when(record(no('PIX')))
        .then('nothing');
    });
  it('of a method that was not asked for is nothing', () =>
    given(payment, created())
      .when(record(other(card())))
      .then('nothing'));
  it('of nothing is nothing', () => given(payment, created()).when(record()).then('nothing'));
  it('of a payment that was never created is a broken invariant', () =>
    given(payment)
      .when(record(pix()))
      .throws(/never created/));
});

describe('recordIssuances, of a payment by several methods (I8)', () => {
  const THREE = created({ methods: ['CREDIT_CARD', 'BOLETO', 'PIX'] });
  it('records all at once, in the order in which they are told, once', () => {
    given(payment, THREE)
      .when(record(pix(), other(card()), other(boleto())))
      .then(issued(), otherIssued(card()), otherIssued(boleto()), 'recorded')
      .again('nothing');
  });
  it('one after the other, each once', () => {
    given(payment, THREE)
      .when(record(other(card())))
      .then(otherIssued(card()), 'recorded')
      .again('nothing')
      .and()
      .when(record(pix(), other(card())))
      .then(issued(), 'recorded')
      .again('nothing')
      .and()
      .when(record(other(boleto()), pix(), other(card())))
      .then(otherIssued(boleto()), 'recorded')
      .again('nothing');
  });
  it('again with other content keeps the first instruments', () => {
    given(payment, THREE, otherIssued(card()))
      .when(record(other(card({ reference: 'card-2' }))))
      .then('nothing');
  });
  it('a refused one leaves the others', () => {
    given(payment, THREE)
      .when(record(pix(), no('CREDIT_CARD'), other(boleto())))
      .then(issued(), refusedInstrument('CREDIT_CARD'), otherIssued(boleto()), 'recorded')
      .again('nothing');
  });
  it('a refused one is not had any more', () => {
    given(payment, THREE, refusedInstrument('CREDIT_CARD'))
      .when(record(other(card())))
      .then('nothing');
  });
  it('all refused but one that is not yet known: the charge lives on', () => {
    given(payment, THREE)
      .when(record(no('CREDIT_CARD'), no('BOLETO')))
      .then(refusedInstrument('CREDIT_CARD'), refusedInstrument('BOLETO'), 'recorded')
      .again('nothing')
      .and()
      .when(record(pix()))
      .then(issued(), 'recorded');
  });
  it('the last refusal fails the charge', () => {
    given(payment, THREE, refusedInstrument('CREDIT_CARD'), refusedInstrument('BOLETO'))
      .when(record(no('PIX')))
      .then(failed(), 'recorded')
      .again('nothing');
  });
  it('all refused at once fail the charge with the last of them', () => {
    given(payment, THREE)
      .when(record(no('PIX'), no('CREDIT_CARD'), no('BOLETO')))
      .then(refusedInstrument('PIX'), refusedInstrument('CREDIT_CARD'), failed(), 'recorded')
      .again('nothing');
  });
  it('the last refusal after an instrument fails nothing', () => {
    given(payment, THREE, issued(), refusedInstrument('CREDIT_CARD'))
      .when(record(no('BOLETO')))
      .then(refusedInstrument('BOLETO'), 'recorded')
      .again('nothing');
  });
});

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
  held,
  instrument,
  issued,
  refusedInstrument,
  sentBack,
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
  it('stores only the charge if the provider must be asked for an instrument', () => {
    given(payment).when(createCharge(creation())).then(created(), 'created').again('replayed');
  });
  it('stores the charge and its instrument together if no provider is involved', () => {
    given(payment)
      .when(createCharge(creation({ instrument: instrument() })))
      .then(created(), issued(), 'created')
      .again('replayed');
  });
  it('returns the original when repeated, whatever its status', () => {
    given(payment, created()).when(createCharge(creation())).then('replayed');
    given(payment, created(), issued(), settled()).when(createCharge(creation())).then('replayed');
    given(payment, created(), issued(), expired()).when(createCharge(creation())).then('replayed');
    given(payment, created(), failed()).when(createCharge(creation())).then('replayed');
    given(payment, created(), cancelRequested(), cancelled()).when(createCharge(creation())).then('replayed');
  });
  it('rejects a repeat with other content', () => {
    given(payment, created())
      .when(createCharge(withOtherContent))
      .rejected('idempotency_key_reused', 'Idempotency-Key');
    given(payment, created(), failed())
      .when(createCharge(withOtherContent))
      .rejected('idempotency_key_reused', 'Idempotency-Key');
  });
  it('names the body field in the rejection if the key was in the body (K6)', () => {
    given(payment, created())
      .when(createCharge({ ...withOtherContent, keyParam: 'idempotencyKey' }))
      .rejected('idempotency_key_reused', 'idempotencyKey');
  });
  it('compares fingerprints under the rule version of the first request (K2)', () => {
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

describe('recordIssuances for a Pix charge', () => {
  it('makes the charge payable, once', () => {
    given(payment, created()).when(record(pix())).then(issued(), 'recorded').again('nothing');
  });
  it('keeps the first instrument when repeated with other content', () => {
    given(payment, created(), issued())
      .when(record(pix({ brCode: 'another' })))
      .then('nothing');
  });
  it('ends the charge if the provider refuses, once', () => {
    given(payment, created())
      .when(record(no('PIX')))
      .then(failed(), 'recorded')
      .again('nothing');
  });
  it('keeps the first reason if the provider refuses again', () => {
    const later = recordIssuances(
      [{ method: 'PIX', refused: { reason: 'Other.', providerErrorCode: 'other' } }],
      at('13:01:00'),
    );
    given(payment, created(), failed()).when(later).then('nothing');
  });
  it('keeps an instrument if a refusal follows', () =>
    given(payment, created(), issued())
      .when(record(no('PIX')))
      .then('nothing'));
  const over: readonly (readonly [string, readonly PaymentEvent[]])[] = [
    ['failed', [created(), failed()]],
    ['expired', [created(), issued(), expired()]],
    ['cancelled before any instrument was issued', [created(), cancelRequested(), cancelled()]],
  ];
  for (const [name, history] of over)
    it(`ignores results for a charge that has ended: ${name}`, () => {
      given(payment, ...history)
        .when(record(pix()))
        .then('nothing');
      given(payment, ...history)
        .when(record(no('PIX')))
        .then('nothing');
    });
  it('ignores a method that was not requested', () =>
    given(payment, created())
      .when(record(other(card())))
      .then('nothing'));
  it('does nothing without results', () => given(payment, created()).when(record()).then('nothing'));
  it('throws if the payment was never created', () =>
    given(payment)
      .when(record(pix()))
      .throws(/never created/));
});

describe('recordIssuances for a payment with several methods (I8)', () => {
  const THREE = created({ methods: ['CREDIT_CARD', 'BOLETO', 'PIX'] });
  it('records several results at once, in the given order, once', () => {
    given(payment, THREE)
      .when(record(pix(), other(card()), other(boleto())))
      .then(issued(), otherIssued(card()), otherIssued(boleto()), 'recorded')
      .again('nothing');
  });
  it('records results one after another, each once', () => {
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
  it('keeps the first instruments when repeated with other content', () => {
    given(payment, THREE, otherIssued(card()))
      .when(record(other(card({ reference: 'card-2' }))))
      .then('nothing');
  });
  for (const [name, arrived] of [
    ['paid', settled()],
    ['held for review', held()],
    ['being returned because of the payer lock', sentBack('payer_mismatch')],
  ] as const)
    it(`ignores results for a payment that is ${name}`, () =>
      given(payment, THREE, issued(), arrived)
        .when(record(other(card()), no('BOLETO')))
        .then('nothing'));
  it('keeps the other methods if one is refused', () => {
    given(payment, THREE)
      .when(record(pix(), no('CREDIT_CARD'), other(boleto())))
      .then(issued(), refusedInstrument('CREDIT_CARD'), otherIssued(boleto()), 'recorded')
      .again('nothing');
  });
  it('ignores an instrument of a refused method', () => {
    given(payment, THREE, refusedInstrument('CREDIT_CARD'))
      .when(record(other(card())))
      .then('nothing');
  });
  it('keeps the charge open while one method is unknown', () => {
    given(payment, THREE)
      .when(record(no('CREDIT_CARD'), no('BOLETO')))
      .then(refusedInstrument('CREDIT_CARD'), refusedInstrument('BOLETO'), 'recorded')
      .again('nothing')
      .and()
      .when(record(pix()))
      .then(issued(), 'recorded');
  });
  it('fails the charge if the last method is refused', () => {
    given(payment, THREE, refusedInstrument('CREDIT_CARD'), refusedInstrument('BOLETO'))
      .when(record(no('PIX')))
      .then(failed(), 'recorded')
      .again('nothing');
  });
  it('fails the charge with the last reason if all methods are refused at once', () => {
    given(payment, THREE)
      .when(record(no('PIX'), no('CREDIT_CARD'), no('BOLETO')))
      .then(refusedInstrument('PIX'), refusedInstrument('CREDIT_CARD'), failed(), 'recorded')
      .again('nothing');
  });
  it('keeps the charge open if one method has an instrument and the rest are refused', () => {
    given(payment, THREE, issued(), refusedInstrument('CREDIT_CARD'))
      .when(record(no('BOLETO')))
      .then(refusedInstrument('BOLETO'), 'recorded')
      .again('nothing');
  });
});

import { type CreateCharge, createCharge, failCreation, issueInstrument } from '../../../domain/payment/create.ts';
import { payment } from '../../../domain/payment/payment.ts';
import { given } from '../../support/given.ts';
import { at, CREATED_AT, created, expired, failed, instrument, issued, settled, terms } from '../../support/samples.ts';

const creation = (over: Partial<CreateCharge> = {}): CreateCharge => ({
  terms: terms(),
  fingerprintUnder: (version) => (version === 1 ? 'hash-of-the-request' : 'of-another-rule'),
  fingerprintVersion: 1,
  instrument: null,
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
  });
  it('with other content is refused', () => {
    given(payment, created())
      .when(createCharge(withOtherContent))
      .rejected('idempotency_key_reused', 'Idempotency-Key');
    given(payment, created(), failed())
      .when(createCharge(withOtherContent))
      .rejected('idempotency_key_reused', 'Idempotency-Key');
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

describe('issueInstrument', () => {
  const issue = issueInstrument(instrument(), CREATED_AT);
  it('makes the charge payable, once', () => {
    given(payment, created()).when(issue).then(issued(), 'recorded').again('nothing');
  });
  it('with other content keeps the first instrument', () => {
    given(payment, created(), issued())
      .when(issueInstrument(instrument({ brCode: 'another' }), CREATED_AT))
      .then('nothing');
  });
  it('comes too late for a charge that has ended', () => {
    given(payment, created(), failed()).when(issue).then('nothing');
    given(payment, created(), issued(), expired()).when(issue).then('nothing');
  });
  it('of a payment that was never created is a broken invariant', () =>
    given(payment)
      .when(issue)
      .throws(/never created/));
});

describe('failCreation', () => {
  const fail = failCreation({ reason: 'The bank said no.', providerErrorCode: 'declined' }, CREATED_AT);
  it('ends the charge, once', () => {
    given(payment, created()).when(fail).then(failed(), 'recorded').again('nothing');
  });
  it('with other content keeps the first reason', () => {
    given(payment, created(), failed())
      .when(failCreation({ reason: 'Other.', providerErrorCode: 'other' }, at('13:01:00')))
      .then('nothing');
  });
  it('does not undo an instrument', () => given(payment, created(), issued()).when(fail).then('nothing'));
  it('of a payment that was never created is a broken invariant', () =>
    given(payment)
      .when(fail)
      .throws(/never created/));
});

// How a charge’s state follows from its events. The decisions about a charge are tested in payment/.
import { expect } from 'chai';
import { type ChargeEvent, type ChargeState, charge, pendingMethods } from '../../../domain/charge/charge.ts';
import { fold } from '../../../domain/kernel/decider.ts';
import type { PaymentEvent } from '../../../domain/payment/payment.ts';
import {
  at,
  CANCELLED_AT,
  cancelled,
  cancelRequested,
  created,
  EXPIRES_AT,
  expired,
  FINGERPRINT,
  failed,
  instrument,
  issued,
  refusedInstrument,
  resendRequested,
  terms,
} from '../../support/samples.ts';
import { boleto, card, otherIssued } from '../../world/instruments.ts';

const METHODS = { methods: ['CREDIT_CARD', 'BOLETO', 'PIX'] as const };
const THREE = created(METHODS);
const after = (...events: readonly PaymentEvent[]): ChargeState => fold(charge, events as readonly ChargeEvent[]);

const requested = {
  status: 'requested',
  terms: terms(METHODS),
  fingerprint: FINGERPRINT,
  instruments: { pix: null, acquirerInstruments: [] },
  refusedMethods: [],
  cancelRequestedAt: null,
  resends: 0,
};
const open = { ...requested, status: 'open', instruments: { pix: instrument(), acquirerInstruments: [] } };
const expiry = { reason: 'The payment expired before anybody paid.', providerErrorCode: 'expired', at: EXPIRES_AT };
const cancellation = { reason: 'The merchant cancelled the payment.', providerErrorCode: 'canceled', at: CANCELLED_AT };
const refusal = { reason: 'The bank said no.', providerErrorCode: 'declined', at: at('13:00:00') };

const STATES: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['nothing', [], { status: 'absent' }],
  ['anything without a creation', [issued(), expired(), cancelled(), resendRequested(0, 1)], { status: 'absent' }],
  ['created', [THREE], requested],
  ['Pix issued', [THREE, issued()], open],
  [
    'another method issued',
    [THREE, otherIssued(card())],
    { ...open, instruments: { pix: null, acquirerInstruments: [card()] } },
  ],
  [
    'all issued, in the order of their events',
    [THREE, otherIssued(boleto()), issued(), otherIssued(card())],
    { ...open, instruments: { pix: instrument(), acquirerInstruments: [boleto(), card()] } },
  ],
  [
    'one refused before another was issued',
    [THREE, refusedInstrument('BOLETO'), issued()],
    { ...open, refusedMethods: ['BOLETO'] },
  ],
  [
    'failed',
    [THREE, refusedInstrument('BOLETO'), failed()],
    { ...requested, refusedMethods: ['BOLETO'], status: 'failed', failure: refusal },
  ],
  ['expired', [THREE, issued(), expired()], { ...open, status: 'expired', failure: expiry }],
  ['wanted cancelled', [THREE, issued(), cancelRequested()], { ...open, cancelRequestedAt: CANCELLED_AT }],
  [
    'cancelled',
    [THREE, issued(), cancelRequested(), cancelled()],
    { ...open, status: 'cancelled', cancelRequestedAt: CANCELLED_AT, failure: cancellation },
  ],
  [
    'cancelled before there was an instrument',
    [THREE, cancelRequested(), cancelled()],
    { ...requested, status: 'cancelled', cancelRequestedAt: CANCELLED_AT, failure: cancellation },
  ],
  [
    'cancelled after its expiry: a Pix was held for it',
    [THREE, issued(), expired(), cancelRequested(), cancelled()],
    { ...open, status: 'cancelled', cancelRequestedAt: CANCELLED_AT, failure: cancellation },
  ],
  [
    'its webhooks wanted again',
    [THREE, issued(), resendRequested(1, 1), resendRequested(1, 2)],
    { ...open, resends: 2 },
  ],
  [
    'an instrument of an expired one changes nothing',
    [THREE, issued(), expired(), otherIssued(card())],
    { ...open, status: 'expired', failure: expiry },
  ],
  [
    'an instrument of a cancelled one changes nothing',
    [THREE, cancelRequested(), cancelled(), issued(), otherIssued(card())],
    { ...requested, status: 'cancelled', cancelRequestedAt: CANCELLED_AT, failure: cancellation },
  ],
  ['expired without an instrument changes nothing', [THREE, expired()], requested],
  ['failed with an instrument changes nothing', [THREE, issued(), failed()], open],
  [
    'expired after it was cancelled changes nothing',
    [THREE, issued(), cancelled(), expired()],
    { ...open, status: 'cancelled', failure: cancellation },
  ],
  [
    'cancelled after it failed changes nothing',
    [THREE, failed(), cancelRequested(), cancelled()],
    { ...requested, status: 'failed', failure: refusal },
  ],
];

describe('the state of a charge', () => {
  for (const [name, history, state] of STATES) it(name, () => expect(after(...history)).to.deep.equal(state));
});

describe('pendingMethods', () => {
  const PENDING: readonly (readonly [string, readonly PaymentEvent[], readonly string[]])[] = [
    ['all, as they were sent', [THREE], ['CREDIT_CARD', 'BOLETO', 'PIX']],
    ['not those that are issued', [THREE, issued()], ['CREDIT_CARD', 'BOLETO']],
    ['not those that are refused', [THREE, refusedInstrument('CREDIT_CARD'), otherIssued(boleto())], ['PIX']],
    ['none', [THREE, issued(), otherIssued(card()), refusedInstrument('BOLETO')], []],
  ];
  for (const [name, history, methods] of PENDING)
    it(name, () => {
      const state = after(...history);
      if (state.status === 'absent') throw new Error('absent');
      expect(pendingMethods(state)).to.deep.equal(methods);
    });
});

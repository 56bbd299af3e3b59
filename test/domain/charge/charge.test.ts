// How a charge’s state follows from its events. The decisions about a charge are tested in payment/.
import { expect } from 'chai';
import { type ChargeEvent, type ChargeState, charge, pendingMethods } from '../../../domain/charge/charge.ts';
import { fold } from '../../../domain/kernel/decider.ts';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
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

const OTHER_CONNECTION = '0000000000000000000000000c' as ConnectionId;
const rerouted = (): PaymentEvent => ({
  type: 'ChargeRerouted',
  data: { reason: 'No such key.', providerErrorCode: 'key', connectionId: OTHER_CONNECTION, at: at('12:00:01') },
});

const STATES: readonly (readonly [string, readonly PaymentEvent[], unknown])[] = [
  ['is absent without events', [], { status: 'absent' }],
  [
    'is absent if the creation is missing',
    [issued(), expired(), cancelled(), resendRequested(0, 1)],
    { status: 'absent' },
  ],
  ['is requested after the creation', [THREE], requested],
  ['is open once the Pix is issued', [THREE, issued()], open],
  [
    'has the connection that it was rerouted to',
    [THREE, rerouted()],
    { ...requested, terms: { ...requested.terms, connectionId: OTHER_CONNECTION } },
  ],
  ['keeps the connection that issued its Pix', [THREE, issued(), rerouted()], open],
  [
    'is open once another instrument is issued',
    [THREE, otherIssued(card())],
    { ...open, instruments: { pix: null, acquirerInstruments: [card()] } },
  ],
  [
    'lists the other instruments in the order of their events',
    [THREE, otherIssued(boleto()), issued(), otherIssued(card())],
    { ...open, instruments: { pix: instrument(), acquirerInstruments: [boleto(), card()] } },
  ],
  [
    'lists a method that was refused before another was issued',
    [THREE, refusedInstrument('BOLETO'), issued()],
    { ...open, refusedMethods: ['BOLETO'] },
  ],
  [
    'is failed if the creation failed',
    [THREE, refusedInstrument('BOLETO'), failed()],
    { ...requested, refusedMethods: ['BOLETO'], status: 'failed', failure: refusal },
  ],
  ['is expired after the expiry', [THREE, issued(), expired()], { ...open, status: 'expired', failure: expiry }],
  [
    'stays open after a cancellation request',
    [THREE, issued(), cancelRequested()],
    { ...open, cancelRequestedAt: CANCELLED_AT },
  ],
  [
    'is cancelled after the cancellation',
    [THREE, issued(), cancelRequested(), cancelled()],
    { ...open, status: 'cancelled', cancelRequestedAt: CANCELLED_AT, failure: cancellation },
  ],
  [
    'can be cancelled before any instrument is issued',
    [THREE, cancelRequested(), cancelled()],
    { ...requested, status: 'cancelled', cancelRequestedAt: CANCELLED_AT, failure: cancellation },
  ],
  [
    'can be cancelled after the expiry, because a Pix may be held',
    [THREE, issued(), expired(), cancelRequested(), cancelled()],
    { ...open, status: 'cancelled', cancelRequestedAt: CANCELLED_AT, failure: cancellation },
  ],
  [
    'counts the requests to resend its webhooks',
    [THREE, issued(), resendRequested(1, 1), resendRequested(1, 2)],
    { ...open, resends: 2 },
  ],
  [
    'ignores an instrument after the expiry',
    [THREE, issued(), expired(), otherIssued(card())],
    { ...open, status: 'expired', failure: expiry },
  ],
  [
    'ignores instruments after the cancellation',
    [THREE, cancelRequested(), cancelled(), issued(), otherIssued(card())],
    { ...requested, status: 'cancelled', cancelRequestedAt: CANCELLED_AT, failure: cancellation },
  ],
  ['ignores an expiry before any instrument is issued', [THREE, expired()], requested],
  ['ignores a failure after an instrument was issued', [THREE, issued(), failed()], open],
  [
    'ignores an expiry after the cancellation',
    [THREE, issued(), cancelled(), expired()],
    { ...open, status: 'cancelled', failure: cancellation },
  ],
  [
    'ignores a cancellation after the failure',
    [THREE, failed(), cancelRequested(), cancelled()],
    { ...requested, status: 'failed', failure: refusal },
  ],
];

describe('the state of a charge', () => {
  for (const [name, history, state] of STATES) it(name, () => expect(after(...history)).to.deep.equal(state));
});

describe('pendingMethods', () => {
  const PENDING: readonly (readonly [string, readonly PaymentEvent[], readonly string[]])[] = [
    ['returns all methods in the order of the request', [THREE], ['CREDIT_CARD', 'BOLETO', 'PIX']],
    ['excludes issued methods', [THREE, issued()], ['CREDIT_CARD', 'BOLETO']],
    ['excludes refused and issued methods', [THREE, refusedInstrument('CREDIT_CARD'), otherIssued(boleto())], ['PIX']],
    [
      'is empty if every method is issued or refused',
      [THREE, issued(), otherIssued(card()), refusedInstrument('BOLETO')],
      [],
    ],
  ];
  for (const [name, history, methods] of PENDING)
    it(name, () => {
      const state = after(...history);
      if (state.status === 'absent') throw new Error('absent');
      expect(pendingMethods(state)).to.deep.equal(methods);
    });
});

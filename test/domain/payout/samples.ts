// Events and terms of a sample payout.
import type { UserId } from '../../../domain/kernel/ids.ts';
import { toMinor } from '../../../domain/kernel/money.ts';
import type { RequestPayout } from '../../../domain/payout/decisions.ts';
import type { PayoutEvent, PayoutId, PayoutTerms } from '../../../domain/payout/payout.ts';
import { ACCOUNT_ID, at } from '../../support/samples.ts';

export const PAYOUT_ID = '0payvt00000000000000000001' as PayoutId;
export const ISSUER = '0vser000000000000000000001' as UserId;
export const SOMEONE = '0vser000000000000000000002' as UserId;

export const TERMS: PayoutTerms = {
  payoutId: PAYOUT_ID,
  accountId: ACCOUNT_ID,
  mode: 'test',
  connectionId: null,
  amount: toMinor(1_000),
  fee: toMinor(50),
  currency: 'BRL',
  destination: 'ana@example.com',
  description: 'Repasse',
  metadata: { order: 'A-1' },
  awaitsApproval: false,
  requestedBy: 'key:0123456789abcdef',
  keyIssuer: null,
};
export const WAITING: PayoutTerms = { ...TERMS, awaitsApproval: true, keyIssuer: ISSUER };
export const FINGERPRINT = { version: 1, hash: 'hash-of-the-payout' };
export const REQUESTED_AT = at('15:00:00');
export const LATER = at('15:00:01');

export const wish = (over: Partial<RequestPayout> = {}): RequestPayout => ({
  terms: TERMS,
  abandoned: 0,
  fingerprintUnder: () => FINGERPRINT.hash,
  fingerprintVersion: 1,
  ...over,
});

const moved = { amount: TERMS.amount, fee: TERMS.fee, currency: 'BRL', at: LATER } as const;
export const requested = (terms = TERMS): PayoutEvent => ({
  type: 'PayoutRequested',
  data: { ...terms, fingerprint: FINGERPRINT, at: REQUESTED_AT },
});
export const abandoned: PayoutEvent = { type: 'PayoutAbandoned', data: { at: LATER } };
export const approved: PayoutEvent = { type: 'PayoutApproved', data: { by: 'user:usr_x', at: LATER } };
export const rejected: PayoutEvent = {
  type: 'PayoutRejected',
  data: { ...moved, by: 'user:usr_x', reason: 'too much' },
};
export const cancelled: PayoutEvent = { type: 'PayoutCancelled', data: moved };
export const submitted: PayoutEvent = { type: 'PayoutSubmitted', data: { at: LATER } };
export const unknown: PayoutEvent = { type: 'PayoutOutcomeUnknown', data: { at: LATER } };
export const paid: PayoutEvent = { type: 'PayoutPaid', data: { ...moved, endToEndId: 'E-out-1' } };
export const failed: PayoutEvent = { type: 'PayoutFailed', data: { ...moved, reason: 'account closed' } };
export const late: PayoutEvent = { type: 'PayoutConfirmedLate', data: { ...moved, endToEndId: 'E-out-1' } };

/** For each status, a history that leads to it. */
export const HISTORIES = {
  absent: [],
  abandoned: [abandoned],
  awaitingApproval: [requested(WAITING)],
  ready: [requested()],
  approved: [requested(WAITING), approved],
  submitted: [requested(), submitted],
  unknown: [requested(), submitted, unknown],
  paid: [requested(), submitted, paid],
  failed: [requested(), submitted, failed],
  paidLate: [requested(), submitted, failed, late],
  rejected: [requested(WAITING), rejected],
  cancelled: [requested(), cancelled],
} as const satisfies { readonly [name: string]: readonly PayoutEvent[] };
export type History = keyof typeof HISTORIES;

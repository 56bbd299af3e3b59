import { expect } from 'chai';
import {
  abandonRequest,
  cancelPayout,
  type PayoutOutcome,
  type Reviewer,
  recordPayoutOutcome,
  requestPayout,
  reviewPayout,
  submitPayout,
} from '../../../domain/payout/decisions.ts';
import { type PayoutEvent, payout } from '../../../domain/payout/payout.ts';
import { given } from '../../support/given.ts';
import {
  abandoned,
  approved,
  cancelled,
  FINGERPRINT,
  failed,
  HISTORIES,
  type History,
  ISSUER,
  LATER,
  late,
  paid,
  REQUESTED_AT,
  rejected,
  requested,
  SOMEONE,
  submitted,
  TERMS,
  unknown,
  WAITING,
  wish,
} from './samples.ts';

const NAMES = Object.keys(HISTORIES) as readonly History[];
const following = (name: History) => given(payout, ...HISTORIES[name]);
const but = (...names: readonly History[]) => NAMES.filter((name) => !names.includes(name));

describe('requestPayout', () => {
  const request = requestPayout(wish(), REQUESTED_AT);
  const asked = { status: 'ready', terms: TERMS, fingerprint: FINGERPRINT, requestedAt: REQUESTED_AT } as const;

  it('records the request and replays it when repeated', () => {
    given(payout)
      .when(request)
      .then(requested(), { payout: asked, replayed: false })
      .again({ payout: asked, replayed: true });
  });
  it('returns awaitingApproval if the payout needs approval', () => {
    given(payout)
      .when(requestPayout(wish({ terms: WAITING }), REQUESTED_AT))
      .then(requested(WAITING), {
        payout: { ...asked, status: 'awaitingApproval', terms: WAITING },
        replayed: false,
      });
  });
  for (const name of but('absent', 'abandoned'))
    it(`replays the original request while ${name} and rejects other content`, () => {
      const terms =
        HISTORIES[name][0] === undefined
          ? TERMS
          : name === 'awaitingApproval' || name === 'approved' || name === 'rejected'
            ? WAITING
            : TERMS;
      const status = terms === WAITING ? 'awaitingApproval' : 'ready';
      following(name)
        .when(request)
        .then({ payout: { ...asked, status, terms }, replayed: true });
      following(name)
        .when(requestPayout(wish({ fingerprintUnder: () => 'another' }), LATER))
        .rejected('idempotency_key_reused', 'Idempotency-Key');
    });
  it('rejects a request whose reserved money was released, and accepts one that reserves it anew', () => {
    following('abandoned').when(request).rejected('service_unavailable');
    following('abandoned')
      .when(requestPayout(wish({ abandoned: 1 }), REQUESTED_AT))
      .then(requested(), { payout: asked, replayed: false });
  });
});

describe('abandonRequest', () => {
  const abandon = abandonRequest(LATER);
  it('records each abandonment, so that no earlier reservation can be used', () => {
    given(payout).when(abandon).then(abandoned, 'abandoned');
    following('abandoned').when(abandon).then(abandoned, 'abandoned');
  });
  for (const name of but('absent', 'abandoned'))
    it(`does nothing if the payout is ${name}`, () => {
      following(name).when(abandon).then('requested');
    });
});

describe('cancelPayout', () => {
  const cancel = cancelPayout(LATER);
  for (const name of ['awaitingApproval', 'ready', 'approved'] as const)
    it(`cancels once and is idempotent: ${name}`, () => {
      following(name).when(cancel).then(cancelled, 'cancelled').again('cancelled');
    });
  for (const name of ['submitted', 'unknown', 'paid', 'failed', 'paidLate', 'rejected'] as const)
    it(`rejects with payout_not_cancellable: ${name}`, () =>
      following(name).when(cancel).rejected('payout_not_cancellable'));
  for (const name of ['absent', 'abandoned'] as const)
    it(`rejects with not_found: ${name}`, () => following(name).when(cancel).rejected('not_found'));
});

describe('reviewPayout', () => {
  const manager: Reviewer = { actor: 'user:usr_x', userId: SOMEONE };
  const operator: Reviewer = { actor: 'operator:maria', userId: null };
  const approve = reviewPayout({ verdict: 'approved' }, manager, LATER);
  const reject = reviewPayout({ verdict: 'rejected', reason: 'too much' }, manager, LATER);

  it('approves or rejects a payout that awaits approval', () => {
    following('awaitingApproval').when(approve).then(approved, 'approved');
    following('awaitingApproval').when(reject).then(rejected, 'rejected');
  });
  it('lets an operator approve', () => {
    following('awaitingApproval')
      .when(reviewPayout({ verdict: 'approved' }, operator, LATER))
      .then({ type: 'PayoutApproved', data: { by: 'operator:maria', at: LATER } }, 'approved');
  });
  for (const name of but('absent', 'abandoned', 'awaitingApproval'))
    it(`rejects with payout_not_awaiting_approval: ${name}`, () => {
      for (const decide of [approve, reject]) following(name).when(decide).rejected('payout_not_awaiting_approval');
    });
  for (const name of ['absent', 'abandoned'] as const)
    it(`rejects with not_found: ${name}`, () => following(name).when(approve).rejected('not_found'));

  describe('rejects with role_required', () => {
    it('the issuer of the key', () =>
      following('awaitingApproval')
        .when(reviewPayout({ verdict: 'approved' }, { actor: 'user:usr_y', userId: ISSUER }, LATER))
        .rejected('role_required'));
    it('the user who requested the payout', () =>
      given(payout, requested({ ...WAITING, keyIssuer: null, requestedBy: 'user:usr_x' }))
        .when(approve)
        .rejected('role_required'));
    it('before it checks whether the payout awaits approval', () =>
      given(payout, requested({ ...TERMS, keyIssuer: ISSUER }), cancelled)
        .when(reviewPayout({ verdict: 'approved' }, { actor: 'user:usr_y', userId: ISSUER }, LATER))
        .rejected('role_required'));
  });
});

describe('submitPayout', () => {
  const submit = submitPayout(LATER);
  for (const name of ['ready', 'approved'] as const)
    it(`submits once and is idempotent: ${name}`, () => {
      following(name).when(submit).then(submitted, 'submitted').again('submitted');
    });
  for (const name of ['submitted', 'unknown'] as const)
    it(`repeats the reply without an event: ${name}`, () => {
      following(name).when(submit).then('submitted');
    });
  for (const name of but('ready', 'approved', 'submitted', 'unknown'))
    it(`does nothing: ${name}`, () => {
      following(name).when(submit).then('nothing');
    });
});

describe('recordPayoutOutcome', () => {
  const OUTCOMES: readonly (readonly [PayoutOutcome, PayoutEvent | null, PayoutEvent | null])[] = [
    [{ kind: 'processing' }, null, null],
    [{ kind: 'unknown' }, unknown, null],
    [{ kind: 'confirmed', endToEndId: 'E-out-1' }, paid, paid],
    [{ kind: 'refused', reason: 'account closed' }, failed, failed],
  ];
  for (const [outcome, ofSubmitted, ofUnknown] of OUTCOMES)
    for (const [name, event] of [
      ['submitted', ofSubmitted],
      ['unknown', ofUnknown],
    ] as const)
      it(`records ${event?.type ?? 'nothing'} for the outcome ${outcome.kind} while ${name}`, () => {
        const record = recordPayoutOutcome(outcome, LATER);
        if (event === null) following(name).when(record).then('nothing');
        else following(name).when(record).then(event, 'recorded');
      });
  for (const name of but('submitted', 'unknown', 'failed'))
    for (const [outcome] of OUTCOMES)
      it(`ignores the outcome ${outcome.kind} while ${name}`, () => {
        following(name).when(recordPayoutOutcome(outcome, LATER)).then('nothing');
      });
  for (const [outcome] of OUTCOMES)
    it(`${outcome.kind === 'confirmed' ? 'accepts' : 'ignores'} the outcome ${outcome.kind} after a failure`, () => {
      const when = following('failed').when(recordPayoutOutcome(outcome, LATER));
      if (outcome.kind === 'confirmed') when.then(late, 'recorded').again('nothing');
      else when.then('nothing');
    });
});

describe('the state of a payout', () => {
  const ALL = [...new Set(Object.values(HISTORIES).flat())] as readonly PayoutEvent[];
  it('accepts every event in every state and does not change in final states', () => {
    for (const name of NAMES)
      for (const event of ALL) {
        const { state } = following(name);
        expect(() => payout.evolve(state, event)).not.to.throw();
      }
    for (const name of ['paid', 'paidLate', 'rejected', 'cancelled'] as const)
      for (const event of ALL) expect(payout.evolve(following(name).state, event)).to.deep.equal(following(name).state);
  });
});

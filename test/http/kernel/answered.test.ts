// What the request log records of an answered request (rule D3).
import { expect } from 'chai';
import type { Request, Response } from 'express';
import type { UserId } from '../../../domain/kernel/ids.ts';
import { answeredRequest } from '../../../http/kernel/app.ts';
import type { Caller, KnownCaller, OperatorCaller, SessionCaller } from '../../../http/kernel/callers.ts';

const [KEY, TOKEN] = [`ak_live_${'x'.repeat(32)}`, 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3IifQ.c2lnbmF0dXJl'];
const account = { accountId: 'a'.repeat(26) } as Caller['account'];
const BY_KEY: Caller = {
  account,
  tenant: { accountId: account.accountId, mode: 'test' },
  actor: 'key:0123456789abcdef',
};
const userId = 'u'.repeat(26) as UserId;
const user = { sessionId: 's', userId, email: 'ana@example.com', name: 'Ana', actor: `user:usr_${userId}` };
const BY_USER = { ...user, role: 'OWNER', account, tenant: { ...BY_KEY.tenant, mode: 'live' } } as SessionCaller;
const BY_OPERATOR = { ...user, role: 'OPERATOR' } as OperatorCaller;

describe('the record of an answered request', () => {
  const told = (caller: KnownCaller, path = '/v1/wallets', durationMs = 3) =>
    answeredRequest(
      { requestId: 'req_1', method: 'GET', path } as unknown as Request,
      { statusCode: 200 } as Response,
      caller,
      durationMs,
    );
  const of = { requestId: 'req_1', method: 'GET', path: '/v1/wallets', status: 200, durationMs: 3 };

  it('names the key, account and mode; the user, without a mode; or the operator, without an account', () => {
    const { accountId } = account;
    expect([told(BY_KEY), told(BY_USER), told(BY_OPERATOR)]).to.deep.equal([
      { ...of, accountId, mode: 'test', keyFingerprint: '0123456789abcdef', userId: null },
      { ...of, accountId, mode: null, keyFingerprint: null, userId },
      { ...of, accountId: null, mode: null, keyFingerprint: null, userId },
    ]);
  });
  it('rounds the duration to whole milliseconds', () => {
    expect([0.4, 0.5, 1_499.6].map((ms) => told(BY_KEY, '/', ms).durationMs)).to.deep.equal([0, 1, 1_500]);
  });
  for (const [path, shown] of [
    [`/v1/charges/${KEY}`, '/v1/charges/***'],
    [`/v1/charges/${TOKEN}/cancel`, '/v1/charges/***/cancel'],
    [`/${TOKEN}/${KEY}/${KEY}`, '/***/***/***'],
    // Secrets are masked before the path is cut to 256 characters.
    [`/${'x'.repeat(240)}/${KEY}`, `/${'x'.repeat(240)}/***`],
    [`/${'x'.repeat(300)}`, `/${'x'.repeat(255)}`],
  ] as const)
    it(`shows no secret for ${path.slice(0, 24)}… (${path.length} characters)`, () =>
      expect(told(BY_KEY, path).path).to.equal(shown));
});

// Admission: whose slot a request takes, and what is logged when it is rejected (rule E8).
import { expect } from 'chai';
import type { Request, Response } from 'express';
import type { SecurityEvent } from '../../../application/ports/securityEvents.ts';
import type { UserId } from '../../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../../domain/kernel/rejection.ts';
import { type Admission, admit, connectionLimit, type Passage, UNCOUNTED } from '../../../http/kernel/admission.ts';
import type { Principal } from '../../../http/kernel/callers.ts';
import type { MinuteWindows } from '../../../http/kernel/minuteWindows.ts';
import type { LimitClass, Route } from '../../../http/kernel/route.ts';
import type { AppServices } from '../../../http/kernel/serverContext.ts';

const ACCOUNT = 'a'.repeat(26);
const KEY = `ak_test_${'x'.repeat(32)}`;
const FINGERPRINT = '0123456789abcdef';
const USER = 'u'.repeat(26) as UserId;
const account = { accountId: ACCOUNT };
const OPERATOR_TOKEN = 'Bearer of.an.operator';

const services = {
  findKey: async () => ({ accountId: ACCOUNT, mode: 'test', fingerprint: FINGERPRINT.padEnd(64, '0') }),
  accounts: { get: async () => account },
  findSession: async (token: string) => ({
    sessionId: 's',
    user: { userId: USER, role: `Bearer ${token}` === OPERATOR_TOKEN ? 'OPERATOR' : 'OWNER' },
    account: `Bearer ${token}` === OPERATOR_TOKEN ? null : account,
  }),
} as unknown as AppServices;

const BY: { readonly [Who in 'key' | 'user' | 'operator' | 'nobody']: Record<string, string> } = {
  key: { apikey: KEY },
  user: { authorization: 'Bearer of.a.member' },
  operator: { authorization: OPERATOR_TOKEN },
  nobody: {},
};

/** Builds a request as Node does: `headersDistinct` lists repeated headers separately. */
const requestOf = (sent: { readonly [name: string]: string | readonly string[] | undefined }, ip: string): Request => {
  const given = Object.entries(sent).filter(([, value]) => value !== undefined);
  const headersDistinct = Object.fromEntries(given.map(([name, value]) => [name, [value].flat()]));
  return { headers: sent, headersDistinct, ip, socket: {}, requestId: 'req_1' } as unknown as Request;
};

describe('admission', () => {
  /** Returns the rejection’s code or null, the slots claimed, the known caller and the security events. */
  const ask = async (
    [principal, limit]: readonly [Principal, LimitClass],
    by: keyof typeof BY,
    { isFull = false, limited = null as null | 'first' | 'again' } = {},
  ) => {
    const [claimed, told]: [string[], SecurityEvent[]] = [[], []];
    const judge = async () =>
      limited === null
        ? null
        : { perMinute: 5, isFirst: limited === 'first', network: '::', rejection: reject('rate_limited', 'Too many.') };
    const options: Admission = {
      services,
      rateLimit: judge,
      addressLimit: judge,
      overload: {} as Admission['overload'],
      onSecurityEvent: (event) => told.push(event),
    };
    const passage: Passage = {
      place: {
        claim: (of) => {
          claimed.push(of);
          return !isFull;
        },
        waiting: (sent) => sent,
        leave: () => undefined,
      },
      caller: null,
    };
    const req = requestOf(BY[by], '127.0.0.1');
    const done = await admit({ principal, limit } as Route, req, {} as Response, passage, options);
    const code = done !== null && typeof done === 'object' && isRejection(done) ? done.code : null;
    return { code, claimed, known: passage.caller?.actor ?? null, told };
  };

  for (const [reason, name, credentials] of [
    ['missing', 'no key', {}],
    ['missing', 'an empty key', { apikey: '' }],
    ['malformed', 'a key with a letter more', { apikey: `${KEY}x` }],
    ['malformed', 'a key with a letter less', { apikey: KEY.slice(0, -1) }],
    ['malformed', 'a key of no mode', { apikey: KEY.replace('test', 'demo') }],
    ['malformed', 'several keys', { apikey: [KEY, KEY] }],
    ['unknown', 'a key that nobody has', { apikey: KEY.replaceAll('x', 'y') }],
    ['missing', 'no token', { authorization: undefined }],
    ['malformed', 'a key for a token', { authorization: `Bearer ${KEY}` }],
    ['malformed', 'a token longer than any', { authorization: `Bearer a.b.${'c'.repeat(2_048 - 10)}` }],
    ['unknown', 'a token of no session', { authorization: `Bearer a.b.${'c'.repeat(2_048 - 11)}` }],
  ] as const)
    it(`returns 401 without a caller and logs the reason only: ${name} is ${reason}`, async () => {
      const lookedUp: string[] = [];
      const look = async (credential: string) => {
        lookedUp.push(credential);
        return null;
      };
      const told: SecurityEvent[] = [];
      const options = {
        services: { findKey: look, findSession: look } as unknown as AppServices,
        addressLimit: async () => null,
        onSecurityEvent: (event: SecurityEvent) => told.push(event),
      } as unknown as Admission;
      const principal = 'authorization' in credentials ? 'anySession' : 'apiKey';
      const req = requestOf(credentials, '203.0.113.7');
      const passage: Passage = { place: UNCOUNTED, caller: null };
      const done = await admit({ principal, limit: 'key' } as Route, req, {} as Response, passage, options);
      expect([isRejection(done as object) && (done as Rejection).code, passage.caller]).to.deep.equal([
        ...['unauthorized', null],
      ]);
      expect(told).to.deep.equal([
        { security: 'authentication_failed', reason, network: '203.0.113.0/24', requestId: 'req_1' },
      ]);
      expect(lookedUp).to.have.length(reason === 'unknown' ? 1 : 0);
    });

  const KEYED = ['apiKey', 'key'] as const;
  const SESSION = ['anySession', 'user'] as const;
  for (const [name, route, by, place, known] of [
    ['a key, of its account', KEYED, 'key', ACCOUNT, `key:${FINGERPRINT}`],
    ['a user, of its account', SESSION, 'user', ACCOUNT, `user:usr_${USER}`],
    ['operators, together', SESSION, 'operator', 'operators', `user:usr_${USER}`],
    ['pages, together', ['public', 'pages'], 'nobody', 'pages', null],
    ['logins, together', ['public', 'login'], 'nobody', 'login', null],
  ] as const)
    it(`claims a slot, or returns 503 if none is free: ${name}`, async () => {
      expect(await ask(route, by)).to.deep.equal({ code: null, claimed: [place], known, told: [] });
      const full = await ask(route, by, { isFull: true });
      expect(full).to.deep.equal({ code: 'service_unavailable', claimed: [place], known, told: [] });
    });
  for (const limit of ['catalogue', 'readiness', 'unlimited'] as const)
    it(`claims no slot: ${limit}`, async () => {
      const asked = await ask(['public', limit], 'nobody', { isFull: true });
      expect(asked).to.deep.equal({ code: null, claimed: [], known: null, told: [] });
    });
  for (const [route, by, actor] of [
    [KEYED, 'key', `key:${FINGERPRINT}`],
    [SESSION, 'user', `user:usr_${USER}`],
    [SESSION, 'operator', `user:usr_${USER}`],
  ] as const)
    it(`logs the caller once a minute beyond the limit and claims no slot: ${by}`, async () => {
      const refused = { code: 'rate_limited', claimed: [], known: actor };
      const event = { security: 'rate_limited', perMinute: 5, actor, requestId: 'req_1' };
      expect(await ask(route, by, { limited: 'first' })).to.deep.equal({ ...refused, told: [event] });
      expect(await ask(route, by, { limited: 'again' })).to.deep.equal({ ...refused, told: [] });
    });

  it('doesn’t count a callback whose connection closed before authentication', async () => {
    const windows = { count: async () => ({ isIn: true, left: 1 }) } as unknown as MinuteWindows;
    const limit = connectionLimit(windows, { inFlightMax: 1 });
    const gone = { destroyed: true, once: () => undefined } as unknown as Response;
    const outcomes = [await limit('c', gone), await limit('c', gone)];
    expect(outcomes).to.deep.equal([null, null]);
  });
});

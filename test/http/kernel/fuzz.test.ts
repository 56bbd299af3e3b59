// Sends hostile requests to every route. Answers must not be 5xx, leak internals or show rows of another account, and no request may hold
// the event loop for more than 20 ms. REQUESTS and SEED change the run; `npm run soak:fuzz` sends 20,000.
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { ROUTES } from '../../../http/api/routes.ts';
import { isOfOperators } from '../../../http/kernel/callers.ts';
import { cpuMsHere, longestTurnOf } from '../../support/longestTurn.ts';
import { cookieOf } from '../../world/browser.ts';
import { newKey, type TestGateway, type TestTenant } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';
import { makeKey, makeOnce, OWN_URL } from '../examples/routeExamples.ts';
import { expectHarmless, type HostileRequest, hostileRequest, sendBytes } from './hostileRequests.ts';

const REQUESTS = Number(process.env['REQUESTS'] ?? 500);
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const CPU_MS_MAX = 20;
const TRIES = 3;

/** Header lines that authenticate the caller. */
type Credentials = () => readonly string[];
interface Caller {
  readonly credentials: Credentials;
  /** Texts that must not appear in answers to this caller. */
  readonly foreign: readonly string[];
}

describe(`hostile requests, ${REQUESTS} of seed ${SEED}`, () => {
  let gateway: TestGateway;
  let requests: fc.Arbitrary<HostileRequest<Caller>>;
  /** Sent last, because these requests suspend accounts and disable users. */
  let ofOperator: fc.Arbitrary<HostileRequest<Caller>>;
  /** Authorization header lines, by account. */
  const sessions = new Map<TestTenant, string>();
  const openSession = async (tenant: TestTenant): Promise<void> => {
    const user = await gateway.addUser('OWNER', { tenant });
    sessions.set(tenant, `authorization: ${(await gateway.logIn('OWNER', user)).authorization}`);
  };

  before(async () => {
    gateway = await openReady();
    const { tenant } = gateway;
    const attacker = await gateway.newTenant();
    const [own, foreign] = [`Ana ${newKey()}`, `Eve ${newKey()}`];
    const charge = async (name: string, key: string) =>
      (await gateway.charge<{ id: string }>({ customer: { name } }, { key })).body.id;
    const chargeId = await charge(own, tenant.testKey);
    await charge(foreign, attacker.testKey);
    const endpoint = await gateway.post<{ id: string }>('/v1/webhooks/endpoints', {
      url: OWN_URL,
      events: ['charge.failed'],
    });
    const keyId = await makeKey(gateway, own);
    await makeKey(gateway, foreign, attacker);
    const owned = { ...(await makeOnce(gateway)), chargeId, endpointId: endpoint.body.id, keyId };
    for (const one of [tenant, attacker]) await openSession(one);

    const key =
      (text: string): Credentials =>
      () => [`apikey: ${text}`];
    const session =
      (of: TestTenant): Credentials =>
      () => [sessions.get(of) as string];
    const both =
      (text: string, of: TestTenant): Credentials =>
      () => [...key(text)(), ...session(of)()];
    const sent: readonly (readonly [Credentials, readonly string[]])[] = [
      [key(tenant.testKey), [foreign]],
      [key(tenant.testKey), [foreign]],
      [key(tenant.liveKey), [own, foreign]],
      [key(attacker.testKey), [own]],
      [key(attacker.testKey), [own]],
      [key(attacker.liveKey), [own, foreign]],
      [session(tenant), [foreign]],
      [session(tenant), [foreign]],
      [session(attacker), [own]],
      [session(attacker), [own]],
      // A request with two credentials counts as one of the two callers, never a mix.
      [both(attacker.testKey, attacker), [own]],
      [() => [], [own, foreign]],
      [key('ak_test_x'), [own, foreign]],
      [() => ['authorization: Bearer a.b.c'], [own, foreign]],
    ];
    const callers = sent.map(([credentials, hidden]) => ({ credentials, foreign: hidden }));
    requests = fc.oneof(...ROUTES.map((route) => hostileRequest(route, { callers, owned })));
    const { authorization } = await gateway.logIn('OPERATOR');
    const lines = [`authorization: ${authorization}`, `cookie: ${cookieOf({ authorization }).cookie}`];
    const operator: Caller = { credentials: () => lines, foreign: [] };
    const ofPlatform = ROUTES.filter(({ principal }) => isOfOperators(principal));
    ofOperator = fc.oneof(...ofPlatform.map((route) => hostileRequest(route, { callers: [operator], owned })));
  });
  after(() => gateway.close());

  /** Opens new sessions for tenants whose requests logged out or changed the password. */
  const reopenSessions = async (): Promise<void> => {
    for (const [tenant, line] of sessions) {
      const headers = { authorization: line.slice('authorization: '.length) };
      if ((await gateway.get('/v1/account', { key: null, headers })).status === 401) await openSession(tenant);
    }
  };

  it('get a status below 500, leak nothing of other callers and don’t block the event loop', async function run() {
    this.timeout(0);
    const port = Number(new URL(gateway.baseUrl).port);
    const seen = new Map<number, number>();
    const all = [
      ...fc.sample(requests, { numRuns: REQUESTS, seed: SEED }),
      ...fc.sample(ofOperator, { numRuns: REQUESTS / 5, seed: SEED }),
    ];
    for (const { caller, bytesWith } of all) {
      const bytes = bytesWith(caller.credentials());
      const of = bytes.subarray(0, 900).toString('latin1');
      let best = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < TRIES && best > CPU_MS_MAX; attempt++) {
        const { result: answer, longestMs } = await longestTurnOf(() => sendBytes(port, bytes));
        best = Math.min(best, longestMs);
        if (answer !== null) expectHarmless(answer, caller.foreign, of);
        seen.set(answer?.status ?? 0, (seen.get(answer?.status ?? 0) ?? 0) + 1);
        if (answer?.status === 204) await reopenSessions();
      }
      if (best >= CPU_MS_MAX) expect(best, `ms of CPU: ${of}`).to.be.below(cpuMsHere(CPU_MS_MAX));
    }
    expect(gateway.faults).to.deep.equal([]);
    if (process.env['REQUESTS'])
      console.log('answers by status', Object.fromEntries([...seen].toSorted(([a], [b]) => a - b)));
  });
});

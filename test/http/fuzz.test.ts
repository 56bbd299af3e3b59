// Every declared route under hostile requests: no 5xx, nothing of our insides, no row of another account, and none that holds the event
// loop for more than 20 ms. REQUESTS and SEED change the run; `npm run soak:fuzz` sends 20,000.
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { ROUTES } from '../../http/api/routes.ts';
import { newKey, type TestGateway } from '../support/gateway.ts';
import { longestTurnOf } from '../support/longestTurn.ts';
import { expectHarmless, type HostileRequest, hostileRequest, sendBytes } from './hostileRequests.ts';
import { makeKey, makeOnce, OWN_URL } from './routeExamples.ts';
import { openReady } from './support.ts';

const REQUESTS = Number(process.env['REQUESTS'] ?? 500);
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const CPU_MS_MAX = 20;
const TRIES = 3;

describe(`hostile requests, ${REQUESTS} of seed ${SEED}`, () => {
  let gateway: TestGateway;
  let requests: fc.Arbitrary<HostileRequest>;
  /** By the key of a request: what its answer may not show. */
  let foreignTo: (key: string | null) => readonly string[];

  before(async () => {
    gateway = await openReady();
    const { testKey, liveKey } = gateway.tenant;
    const attacker = await gateway.newTenant();
    const [own, foreign] = [`Ana ${newKey()}`, `Eve ${newKey()}`];
    const charge = async (name: string, key: string) =>
      (await gateway.charge<{ id: string }>({ customer: { name } }, { key })).body.id;
    await charge(foreign, attacker.testKey);
    const endpoint = await gateway.post<{ id: string }>('/v1/webhooks/endpoints', {
      url: OWN_URL,
      events: ['charge.failed'],
    });
    const keyId = await makeKey(gateway);
    const chargeId = await charge(own, testKey);
    const owned = { ...(await makeOnce(gateway)), chargeId, endpointId: endpoint.body.id, keyId };
    foreignTo = (key) =>
      key === testKey
        ? [foreign]
        : key === liveKey
          ? [own, foreign]
          : key === attacker.testKey
            ? [own]
            : [own, foreign];
    const keys = [testKey, testKey, liveKey, attacker.testKey, attacker.testKey, attacker.liveKey, null, 'ak_test_x'];
    requests = fc.oneof(...ROUTES.map((route) => hostileRequest(route, { keys, owned })));
  });
  after(() => gateway.close());

  it('are answered with less than 500, show nothing that is not the caller’s, and hold nobody up', async function run() {
    this.timeout(0);
    const port = Number(new URL(gateway.baseUrl).port);
    const seen = new Map<number, number>();
    for (const { key, bytes } of fc.sample(requests, { numRuns: REQUESTS, seed: SEED })) {
      const of = bytes.subarray(0, 600).toString('latin1');
      let best = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < TRIES && best > CPU_MS_MAX; attempt++) {
        const { result: answer, longestMs } = await longestTurnOf(() => sendBytes(port, bytes));
        best = Math.min(best, longestMs);
        if (answer !== null) expectHarmless(answer, foreignTo(key), of);
        seen.set(answer?.status ?? 0, (seen.get(answer?.status ?? 0) ?? 0) + 1);
      }
      expect(best, `ms of CPU: ${of}`).to.be.below(CPU_MS_MAX);
    }
    expect(gateway.faults).to.deep.equal([]);
    if (process.env['REQUESTS'])
      console.log('answers by status', Object.fromEntries([...seen].toSorted(([a], [b]) => a - b)));
  });
});

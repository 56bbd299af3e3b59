// Overload rejects requests on arrival, but never too early (http/kernel/admission.ts).

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { addressLimit, OVERLOAD, Overload, type Place, rateLimit } from '../../../http/kernel/admission.ts';
import { createApp } from '../../../http/kernel/app.ts';
import { OPERATIONS } from '../../../http/kernel/health.ts';
import { MinuteWindows } from '../../../http/kernel/minuteWindows.ts';
import { route } from '../../../http/kernel/route.ts';
import type { AppServices } from '../../../http/kernel/serverContext.ts';
import { newKey, type TestGateway, type TestTenant } from '../../world/gateway.ts';
import { expectError, openReady, portOf, rawIdOf } from '../../world/http.ts';

const MANY = 400;

/** Enters `times` requests of an account; returns the slots of those admitted. */
const come = (overload: Overload, account: string, times: number): Place[] => {
  const places: Place[] = [];
  for (let i = 0; i < times; i++) {
    const place = overload.enter();
    if (place?.claim(account)) places.push(place);
    else place?.leave();
  }
  return places;
};

describe('overload', () => {
  /** Milliseconds of a clock that only the test advances. */
  let now: number;
  let overload: Overload;
  beforeEach(() => {
    now = 0;
    overload = new Overload(OVERLOAD, () => now);
  });
  afterEach(() => overload.close());
  const sampleAfter = (ms: number) => {
    now += ms;
    overload.sample();
  };

  it('starts at 512 requests in progress, not before', () => {
    const places = come(overload, 'a', 600);
    expect([places.length, overload.inProgress]).to.deep.equal([512, 512]);
    expect(come(overload, 'a', 10)).to.have.length(0);
    places[0]?.leave();
    places[0]?.leave(); // Leaving twice counts once.
    expect(overload.inProgress).to.equal(511);
    expect(come(overload, 'a', 10)).to.have.length(1);
    for (const place of places) place.leave();
    expect(overload.inProgress).to.equal(1);
  });
  it('caused by one account doesn’t reject requests of others', () => {
    expect(come(overload, 'hog', 600)).to.have.length(512);
    expect(come(overload, 'b', 10)).to.have.length(10);
    expect(come(overload, 'c', 10)).to.have.length(10);
    expect(come(overload, 'hog', 10)).to.have.length(0);
  });
  it('caused by many accounts rejects those with more than an even share', () => {
    for (let i = 0; i < 10; i++) come(overload, `even ${i}`, 60);
    expect(overload.inProgress).to.be.within(512, 600);
    expect(come(overload, 'even 0', 1)).to.have.length(0);
    expect(come(overload, 'new', 1)).to.have.length(1);
  });
  it('divides slots only among accounts with requests in progress', () => {
    for (const place of Array.from({ length: 10 }, (_, i) => come(overload, `gone ${i}`, 1)).flat()) place.leave();
    expect(come(overload, 'hog', 600)).to.have.length(512);
    expect(come(overload, 'b', 300)).to.have.length(256); // an even share of two
  });
  it('has a hard limit of 1,024 requests in total', () => {
    for (let i = 0; i < 3_000; i++) come(overload, `one ${i}`, 1);
    expect(overload.inProgress).to.equal(1_024);
    expect(overload.enter()).to.equal(null);
  });
  it('doesn’t count requests whose body is still arriving, and counts them again once it has arrived', async () => {
    const sent = Promise.withResolvers<string>();
    const waits = come(overload, 'slow', 512).map((place) => place.waiting(sent.promise));
    expect(overload.inProgress).to.equal(0);
    const others = come(overload, 'b', 300);
    sent.resolve('body');
    expect(new Set(await Promise.all(waits))).to.deep.equal(new Set(['body']));
    expect([others.length, overload.inProgress]).to.deep.equal([300, 812]);
  });
  it('counts a request again if its client disconnects while sending', async () => {
    const place = overload.enter();
    const gone = place?.waiting(Promise.reject(new Error('gone'))).catch((error: Error) => error.message);
    expect(await gone).to.equal('gone');
    expect(overload.inProgress).to.equal(1);
    place?.leave();
    expect(overload.inProgress).to.equal(0);
  });
  it('starts after repeated event loop lag of 1 s, not after one, and ends with the lag', () => {
    sampleAfter(100);
    for (const [late, isIn] of [
      [999, true],
      [999, true],
      [1_000, true], // A single lag: the process was paused.
      [0, true],
      [1_000, true],
      [1_000, false],
      [5_000, false],
      [0, true],
    ] as const) {
      sampleAfter(100 + late);
      const place = overload.enter();
      expect(place !== null, `${late} ms late`).to.equal(isIn);
      place?.leave();
    }
  });
});

describe('a request that is delayed on purpose', () => {
  it('doesn’t count as in progress while it waits, so password guesses don’t take slots of others', async () => {
    const seen: number[] = [];
    const windows = new MinuteWindows({ remembered: 100, takeShares: null });
    const overload = new Overload(OVERLOAD, () => 0);
    const slowed = route('GET', '/slowed', {
      operationId: 'slowed',
      summary: 'Waits',
      tag: OPERATIONS,
      principal: 'public',
      limit: 'login',
      responses: { 204: { kind: 'empty', description: 'Done.' } },
      errors: [],
      handle: async ({ pause }) => {
        seen.push(overload.inProgress);
        const paused = pause(1);
        seen.push(overload.inProgress);
        await paused;
        seen.push(overload.inProgress);
        return { status: 204 };
      },
    });
    const app = createApp({
      services: { baseUrl: 'http://127.0.0.1' } as AppServices,
      routes: [slowed],
      rateLimit: rateLimit(windows, 0),
      addressLimit: addressLimit(windows),
      overload,
      newRequestId: () => 'req_1',
      errorPage: null,
      onSecurityEvent: () => undefined,
      onOperatorRequest: () => undefined,
      beginRequest: () => () => undefined,
      trustProxy: false,
      onFault: (error) => {
        throw error;
      },
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { status } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/slowed`);
    expect([status, seen, overload.inProgress]).to.deep.equal([204, [1, 0, 1], 0]);
    server.closeAllConnections();
    server.close();
    overload.close();
  });
});

describe('overload of a gateway', () => {
  let gateway: TestGateway;
  /** Blocks the handlers until it resolves. */
  let gate: PromiseWithResolvers<void>;
  let waiting = 0;
  let isFull: PromiseWithResolvers<void>;
  before(async () => {
    gateway = await openReady();
    const { accounts } = gateway.gateway.services;
    const nowOf = accounts.now.bind(accounts);
    accounts.now = async (id, mode) => {
      waiting += 1;
      if (waiting === MANY) isFull.resolve();
      await gate.promise;
      waiting -= 1;
      return nowOf(id, mode);
    };
  });
  after(() => gateway.close());
  beforeEach(() => {
    gate = Promise.withResolvers();
    isFull = Promise.withResolvers();
  });
  afterEach(() => {
    gate.resolve();
    expect(gateway.faults).to.deep.equal([]);
  });
  it('does not occur with 400 concurrent requests: all are answered', async () => {
    const all = Array.from({ length: MANY }, () => gateway.get('/v1/sandbox/clock'));
    await isFull.promise;
    expect((await gateway.get('/v1/wallets')).status).to.equal(200);
    gate.resolve();
    expect((await Promise.all(all)).filter(({ status }) => status === 200)).to.have.length(MANY);
  });
});

describe('overload of a small gateway', () => {
  const SMALL = 8;
  let gateway: TestGateway;
  let other: TestTenant;
  let gate = Promise.withResolvers<void>();
  let entered = 0;
  let isFull = Promise.withResolvers<void>();
  before(async () => {
    gateway = await openReady({ overload: { requestsMax: SMALL } });
    other = await gateway.newTenant();
    const { services } = gateway.gateway;
    const { progress } = services;
    const caughtUp = progress.caughtUp.bind(progress);
    progress.caughtUp = async (ms) => {
      entered += 1;
      if (entered === SMALL) isFull.resolve();
      await gate.promise;
      return caughtUp(ms);
    };
  });
  after(() => gateway.close());
  beforeEach(() => {
    gate = Promise.withResolvers();
    isFull = Promise.withResolvers();
    entered = 0;
  });
  afterEach(() => {
    gate.resolve();
    expect(gateway.faults).to.deep.equal([]);
  });
  const wallets = (key = gateway.tenant.testKey) => gateway.get('/v1/wallets', { key });

  for (const time of ['first', 'second'])
    it(`returns 503 with Retry-After for one request too many, and ends when the others finish: the ${time} time`, async () => {
      const all = Array.from({ length: SMALL }, () => wallets());
      await isFull.promise;
      for (const reply of [await wallets(), await gateway.charge(), await wallets(gateway.tenant.liveKey)]) {
        expectError(reply, 503, 'service_unavailable');
        expect(Number(reply.headers.get('retry-after'))).to.be.at.least(1);
      }
      const stranger = wallets(other.testKey);
      gate.resolve();
      expect((await stranger).status).to.equal(200);
      expect((await Promise.all(all)).map(({ status }) => status)).to.deep.equal(Array(SMALL).fill(200));
      expect((await wallets()).status).to.equal(200);
      expect((await gateway.charge()).status).to.equal(201);
    });
  it('caused by payment pages, which share one account’s slots, rejects pages and no merchant', async () => {
    const { body } = await gateway.charge<{ id: string }>();
    const page = () => gateway.get(`/pay/${rawIdOf(body.id)}`);
    const all = Array.from({ length: SMALL }, page);
    await isFull.promise;
    expectError(await page(), 503, 'service_unavailable');
    const merchant = wallets(other.testKey);
    gate.resolve();
    expect((await merchant).status).to.equal(200);
    expect((await Promise.all(all)).map(({ status }) => status)).to.deep.equal(Array(SMALL).fill(200));
    expect((await page()).status).to.equal(200);
  });
  it('is not caused by clients that send slowly', async () => {
    gate.resolve();
    const { accounts } = gateway.gateway.services;
    const get = accounts.get.bind(accounts);
    const allKnown = Promise.withResolvers<void>();
    let known = 0;
    accounts.get = async (id) => {
      known += 1;
      if (known === 3 * SMALL) allKnown.resolve();
      return get(id);
    };
    const { testKey } = gateway.tenant;
    const head = `POST /v1/charges HTTP/1.1\r\nHost: x\r\napikey: ${testKey}\r\nIdempotency-Key: ${newKey()}\r\n`;
    const bytes = `${head}Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{`;
    const slow = Array.from({ length: 3 * SMALL }, () => connect(portOf(gateway), '127.0.0.1'));
    for (const socket of slow) socket.on('error', () => undefined).write(bytes);
    await allKnown.promise;
    for (const times of [1, SMALL])
      for (const { status } of await Promise.all(Array.from({ length: times }, () => wallets())))
        expect(status).to.equal(200);
    for (const socket of slow) socket.destroy();
  });
});

// An endpoint that is unreachable for 3 minutes of real time, with one event per second. MINUTES changes the duration. With the test
// clock: test/http/api/webhooks/failingEndpoints.test.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver } from '../world/receiver.ts';

const MINUTES = Number(process.env['MINUTES'] ?? 3);
const AWAY_MS = MINUTES * 60_000;
/** All waiting events must arrive within this time after the endpoint returns (W3). */
const BACK_MS = 60_000;
/** How long an event takes to a healthy endpoint, on a busy machine. */
const AT_ONCE_MS = 5_000;
const EVERY_MS = 1_000;

describe(`an endpoint that was unreachable for ${MINUTES} minutes`, () => {
  it('receives waiting events within 60 s of its return, and new ones promptly', async function run() {
    this.timeout(0);
    const dataDir = await newDataDir();
    const program = await new Program({ dataDir, port: await freePort() }).ready();
    const { testApiKey: apikey } = await program.demo();
    const call = async <T>(method: string, path: string, body?: unknown, key?: string): Promise<T> => {
      const response = await fetch(program.baseUrl + path, {
        method,
        headers: { apikey, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    };
    let isAway = true;
    let refused = 0;
    const takenAtMs = new Map<string, number>();
    const receiver = await Receiver.open(({ at, body }, res) => {
      if (isAway) {
        refused += 1;
        res.destroy();
        return;
      }
      takenAtMs.set((body['data'] as { object: { id: string } }).object.id, at);
      res.end();
    });
    try {
      await call('POST', '/v1/webhooks/endpoints', { url: receiver.url, events: ['charge.created'] });
      const createdAtMs = new Map<string, number>();
      const sellFor = async (ms: number): Promise<void> => {
        const untilMs = Date.now() + ms;
        for (let n = 0; Date.now() < untilMs; n++) {
          const key = `away-${untilMs}-${n}`;
          const { id } = await call<{ id: string }>(
            'POST',
            '/v1/charges',
            { amount: 1_000, payment_method: 'pix' },
            key,
          );
          createdAtMs.set(id, Date.now());
          await pause(EVERY_MS);
        }
      };
      await sellFor(AWAY_MS);
      const waited = createdAtMs.size;
      const backAtMs = Date.now();
      isAway = false;
      await sellFor(BACK_MS + AT_ONCE_MS);
      const late = [...createdAtMs]
        .map(([id, createdMs]) => ({
          id,
          lateMs: (takenAtMs.get(id) ?? Infinity) - Math.max(backAtMs + BACK_MS, createdMs),
        }))
        .filter(({ lateMs }) => lateMs > AT_ONCE_MS);
      const backMs = (n: number): number => (takenAtMs.get([...createdAtMs.keys()][n] ?? '') ?? Infinity) - backAtMs;
      console.log(
        `${waited} waited, ${refused} requests were refused; ${createdAtMs.size - waited} came after its return`,
      );
      console.log(`the first that waited came ${backMs(0)} ms after its return, the last ${backMs(waited - 1)} ms`);
      const { total } = await call<{ total: number }>('GET', '/v1/webhooks/deliveries?status=DELIVERED&limit=1');
      expect({ late, total }).to.deep.equal({ late: [], total: createdAtMs.size });
    } finally {
      await program.stop();
      await receiver.close();
      await removeDataDir(dataDir);
    }
  });
});

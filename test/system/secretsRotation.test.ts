// SECRETS_KEY is rotated while two gateways deliver. Every webhook arrives with a valid signature (rule S6,
// docs/how-to/rotate-the-secrets-key.md).
import { expect } from 'chai';
import pino from 'pino';
import type { EndpointId } from '../../domain/kernel/ids.ts';
import { SecretsKeyring } from '../../infrastructure/secrets/keyring.ts';
import { countSealed, resealSecrets } from '../../infrastructure/secrets/resealing.ts';
import { expectSigned } from '../world/deliveryFacts.ts';
import { newKey, TestGateway, untilServed } from '../world/gateway.ts';
import { Merchant } from '../world/merchant.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';
import { Receiver } from '../world/receiver.ts';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const OTHER_SECRETS = 300;

describe('rotating SECRETS_KEY under load', function suite() {
  this.timeout(120_000);
  let database: TestDatabase;
  let receiver: Receiver;
  const warned: object[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void warned.push(JSON.parse(line)) });
  before(async () => {
    database = await migratedDatabase();
    receiver = await Receiver.open();
  });
  after(async () => {
    await receiver.close();
    await database.drop();
  });
  const open = (...secretsKeys: [Buffer, ...Buffer[]]) =>
    TestGateway.open({ database, secretsKeys, isAlone: false, log });

  it('delivers every event, signed with its endpoint’s secret', async () => {
    let gateways = [await open(OLD), await open(OLD)];
    const { testKey: key } = gateways[0]!.tenant;
    const { secrets } = gateways[0]!.gateway.needs;
    for (let n = 0; n < OTHER_SECRETS; n++)
      await secrets.keep(String(n).padStart(26, '0') as EndpointId, 1, 'a'.repeat(64));

    /** Secrets by the endpoint’s path. */
    const secretOf = new Map<string, string>();
    const register = async (gateway: TestGateway, path: string) => {
      const url = `${receiver.url}/${path}`;
      const body = { url, events: ['charge.created'] };
      const reply = await untilServed(() => gateway.post<{ secret: string }>('/v1/webhooks/endpoints', body, { key }));
      expect(reply.status, reply.text).to.equal(201);
      secretOf.set(`/hook/${path}`, reply.body.secret);
    };
    let charged = 0;
    let isLoading = true;
    const load = async (turn: number) => {
      while (isLoading) {
        const gateway = gateways[turn % gateways.length] as TestGateway;
        const idempotencyKey = newKey();
        const reply = await untilServed(() => gateway.charge({}, { key, idempotencyKey }));
        expect(reply.status, reply.text).to.equal(201);
        charged++;
      }
    };
    /** Replaces a gateway by one with other keys, as a rolling restart does. */
    const replace = async (index: 0 | 1, ...secretsKeys: [Buffer, ...Buffer[]]) => {
      const [old, next] = [gateways[index] as TestGateway, await open(...secretsKeys)];
      gateways = gateways.with(index, next);
      await settled();
      await old.close();
    };
    /** Resolves once requests in progress at the call are answered, which later requests prove. */
    const settled = async () => {
      const until = charged + 4;
      await receiver.until(() => charged >= until, 20_000);
    };

    await register(gateways[0]!, 'first');
    const loading = Promise.all([load(0), load(1)]);
    loading.catch(() => undefined); // It is awaited at the end.
    for (const keys of [
      [OLD, NEW],
      [NEW, OLD],
    ] as const)
      for (const index of [0, 1] as const) {
        await replace(index, ...keys);
        await register(gateways[index]!, `${keys[0] === OLD ? 'old' : 'new'}-${index}`);
      }
    expect(await resealSecrets(gateways[0]!.storage.operations, new SecretsKeyring([NEW, OLD]))).to.be.above(
      OTHER_SECRETS,
    );
    for (const index of [0, 1] as const) await replace(index, NEW);
    await register(gateways[1]!, 'last');
    await settled();
    isLoading = false;
    await loading;
    await new Merchant(gateways[0]!, key).flush();

    const counts = await countSealed(gateways[0]!.storage.operations);
    expect([...counts.keys()]).to.deep.equal([new SecretsKeyring([NEW]).sealingId]);
    expect([...secretOf.keys()].length).to.equal(6);
    const ofFirst = receiver.got.filter(({ path }) => path === '/hook/first');
    expect(new Set(ofFirst.map(({ body }) => body['id'])).size).to.equal(charged);
    expect(new Set(receiver.got.map(({ path }) => path))).to.deep.equal(new Set(secretOf.keys()));
    for (const hit of receiver.got) expectSigned(hit, secretOf.get(hit.path) as string, 'canonical');
    // Ignore schedules that report a missed minute on a busy machine.
    expect(warned.filter((line) => !('schedule' in line))).to.deep.equal([]);
    for (const gateway of gateways) {
      expect(gateway.faults).to.deep.equal([]);
      await gateway.close();
    }
  });
});

// Read models missing in this program’s version, during a rebuild or after a newer version replaced them.
import { expect } from 'chai';
import pg from 'pg';
import { ROUTES } from '../../../http/api/routes.ts';
import { isOfOperators, isOfSession } from '../../../http/kernel/callers.ts';
import type { Route } from '../../../http/kernel/route.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { PROJECTIONS } from '../../../projections/registry.ts';
import { type Reply, startedDatabase, type TestGateway } from '../../world/gateway.ts';
import { expectError, openReady } from '../../world/http.ts';
import type { TestDatabase } from '../../world/postgres.ts';
import type { Owned } from '../examples/exampleParts.ts';
import { exampleOf, type Made, makeKey, makeOnce, OWN_URL, sentTo } from '../examples/routeExamples.ts';

const READING = ROUTES.filter(({ method }) => method === 'GET');

describe('a GET route while a read model has another version', () => {
  let database: TestDatabase;
  let db: pg.Client;
  let gateway: TestGateway;
  let answers: () => Promise<ReadonlyMap<Route, Reply<unknown>>>;
  let usual: ReadonlyMap<Route, Reply<unknown>>;

  before(async () => {
    database = await startedDatabase();
    db = new pg.Client({ connectionString: database.connectionString });
    await db.connect();
    gateway = await openReady({ database, evidence: { viewSeconds: 86_400 } });
    const made: Made = await makeOnce(gateway);
    const wish = { url: OWN_URL, events: ['charge.failed'] };
    const endpointId = (await gateway.post<{ id: string }>('/v1/webhooks/endpoints', wish)).body.id;
    const chargeId = (await gateway.charge<{ id: string }>()).body.id;
    let owned: Owned = { ...made, chargeId, endpointId, keyId: await makeKey(gateway) };
    for (const route of READING) owned = { ...owned, ...(await exampleOf(route).fresh?.(gateway)) };
    const owner = await gateway.logIn('OWNER', owned.user);
    const operator = await gateway.logIn('OPERATOR', await gateway.addUser('OPERATOR'));
    const answer = async (route: Route) => {
      const headers = isOfSession(route.principal) ? (isOfOperators(route.principal) ? operator : owner) : {};
      return [
        route,
        await gateway.call('GET', exampleOf(route).path?.(owned) ?? route.path, sentTo(route, headers)),
      ] as const;
    };
    answers = async () => new Map(await Promise.all(READING.map(answer)));
    usual = await answers();
  });
  after(async () => {
    await gateway.close();
    await db.end();
    await database.drop();
  });

  it('returns no 5xx while all read models are current', () => {
    const failed = [...usual].filter(([, { status }]) => status >= 500).map(([{ path }]) => path);
    expect(failed).to.deep.equal([]);
  });

  for (const { name, version } of PROJECTIONS)
    it(`returns 503 if and only if it reads ${name}`, async () => {
      const { projected } = gateway.gateway;
      // This lock keeps the projector from rebuilding the read model.
      const session = await gateway.storage.openSession('test');
      expect(await session.tryLead(`rebuild ${name}`)).to.equal(true);
      const have = (is: number) =>
        db.query('UPDATE subscriptions.checkpoints SET version = $2 WHERE name = $1', [name, is]);
      const rename = (from: string, to: string) => db.query(`ALTER SCHEMA ${from} RENAME TO ${to}`);
      await have(version + 1);
      await rename(liveSchema(name), 'of_another_version');
      projected.heard([{ name, version: version + 1 }], null);
      const found = await answers();
      await rename('of_another_version', liveSchema(name));
      await have(version);
      projected.heard([{ name, version }], projected.head);
      await session.close();

      const refused = [...found].filter(([, { status }]) => status >= 500);
      for (const [, reply] of refused) expectError(reply as never, 503, 'service_unavailable');
      const reading = READING.filter(({ reads }) => reads.includes(name));
      expect(refused.map(([{ path }]) => path)).to.deep.equal(reading.map(({ path }) => path));
      const others = (replies: ReadonlyMap<Route, Reply<unknown>>) =>
        [...replies].filter(([route]) => !reading.includes(route)).map(([{ path }, { status }]) => `${path} ${status}`);
      expect(others(found)).to.deep.equal(others(usual));
      expect(gateway.faults).to.deep.equal([]);
    });
});

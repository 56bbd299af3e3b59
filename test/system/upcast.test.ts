// Events of an older form, read by a release that upcasts them: by decisions, read models, processes, the audit log, erasures, reports,
// exports and `migrate-events`. The newer form renames a personal field that is usually absent (test/soak/upgrade/releases.ts).
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { EventStore, RecordedEvent } from '../../application/ports/eventStore.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { openEventStoreDb } from '../../infrastructure/eventStore/eventStoreDb/eventStoreDb.ts';
import { openPostgresEventStore } from '../../infrastructure/eventStore/postgres/store.ts';
import { makeReleases, type Releases } from '../soak/upgrade/releases.ts';
import { EventStoreDbServer } from '../support/eventStoreDb/server.ts';
import { TestGateway } from '../world/gateway.ts';
import { migratedDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli, freePort, newDataDir, Program, removeDataDir } from '../world/program.ts';
import { Receiver, typeOf } from '../world/receiver.ts';

const run = promisify(execFile);

const LOCK = '12345678909';
const LOCKED = { amount: 10_000, customer: { name: 'Ana Souza', document: LOCK }, expected_payer_tax_id: LOCK };
const NAMES = ['byAnother', 'byPayer', 'unpaid'] as const;
type Name = (typeof NAMES)[number];

describe('an upcast event', () => {
  const secretsKey = randomBytes(32);
  let database: TestDatabase;
  let releases: Releases;
  let dataDir: string;
  let receiver: Receiver;
  let apikey: string;
  let program: Program;
  let env: Readonly<Record<string, string>>;
  const ids = {} as Record<Name, string>;
  const answers = {} as Record<Name, string>;
  let stored: ReadonlyMap<string, string>;

  const request = async (method: string, path: string, body?: object, key?: string) => {
    const answer = await fetch(program.baseUrl + path, {
      method,
      headers: { apikey, 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text(), replayed: answer.headers.get('idempotent-replayed') };
  };
  /** Repeats requests while the read model is being rebuilt. */
  const served: typeof request = async (...asked) => {
    for (;;) {
      const answer = await request(...asked);
      if (answer.status !== 503) return answer;
    }
  };
  const tool = (...words: readonly string[]) => cli(dataDir, words, env, undefined, releases.newer);
  const created = async (store: EventStore): Promise<ReadonlyMap<string, RecordedEvent>> => {
    const found = new Map<string, RecordedEvent>();
    for await (const batch of store.subscribe({
      after: null,
      categories: ['payment'],
      signal: new AbortController().signal,
    })) {
      if (batch.kind === 'caughtUp') break;
      if (batch.kind === 'events')
        for (const event of batch.events) if (event.type === 'ChargeCreated') found.set(event.stream, event);
    }
    await store.close();
    return found;
  };
  const inPostgres = async () => created(await openPostgresEventStore({ connectionString: database.connectionString }));
  const textsOf = (events: ReadonlyMap<string, RecordedEvent>) =>
    new Map([...events].map(([stream, { data, metadata }]) => [stream, `${data}\n${metadata}`]));
  const streamOf = (name: Name): string => PAYMENT.stream(ids[name].slice('ch_'.length) as never);
  const verified = async () => {
    const { differenceCount, parked } = (await tool('projections', 'verify')) as {
      differenceCount: number;
      parked: readonly unknown[];
    };
    return { differenceCount, parked };
  };
  const start = async (more: Readonly<Record<string, string>> = {}): Promise<void> => {
    env = {
      DATABASE_URL: database.connectionString,
      SECRETS_KEY: secretsKey.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...more,
    };
    program = await new Program({ dataDir, port: await freePort(), env, root: releases.newer }).ready();
  };

  before(async () => {
    [database, releases, dataDir, receiver] = [
      await migratedDatabase(),
      await makeReleases(),
      await newDataDir(),
      await Receiver.open(),
    ];
    // This source tree writes the old form.
    const old = await TestGateway.open({ database, secretsKeys: [secretsKey] });
    apikey = old.tenant.testKey;
    const endpoint = await old.post('/v1/webhooks/endpoints', {
      url: receiver.url,
      events: ['charge.paid', 'charge.failed'],
    });
    expect(endpoint.status).to.equal(201);
    for (const name of NAMES) {
      const { status, text, body } = await old.charge<{ id: string }>(LOCKED, { idempotencyKey: `upcast-${name}-1` });
      expect(status, text).to.equal(201);
      ids[name] = body.id;
      answers[name] = text;
    }
    await old.untilProjected();
    await old.close();
    stored = textsOf(await inPostgres());
    expect([...stored.values()].filter((text) => text.includes('"v":'))).to.deep.equal([]);
    await start();
  });
  after(async () => {
    await program.kill9();
    await receiver.close();
    await database.drop();
    await removeDataDir(dataDir);
    await releases.remove();
  });

  it('is used by decisions: a repeated request is a replay, and another payer is rejected', async () => {
    for (const name of NAMES) {
      const again = await served('POST', '/v1/charges', { payment_method: 'pix', ...LOCKED }, `upcast-${name}-1`);
      expect(again, name).to.deep.equal({ status: 201, text: answers[name], replayed: 'true' });
    }
    const byAnother = await served('POST', `/v1/sandbox/charges/${ids.byAnother}/pay`, {
      payer: { document: '98765432100' },
    });
    expect([byAnother.status, JSON.parse(byAnother.text).outcome], byAnother.text).to.deep.equal([200, 'refunded']);
    const byPayer = await served('POST', `/v1/sandbox/charges/${ids.byPayer}/pay`, {});
    expect([byPayer.status, JSON.parse(byPayer.text).outcome], byPayer.text).to.deep.equal([200, 'settled']);
  });

  it('is read by read models and by the processes that send webhooks', async () => {
    await receiver.until((hit) => typeOf(hit) === 'charge.paid' && hit.rawBody.includes(ids.byPayer));
    for (const [name, status] of [
      ['byPayer', 'paid'],
      ['unpaid', 'pending'],
    ] as const) {
      const { text } = await served('GET', `/v1/charges/${ids[name]}`);
      expect(JSON.parse(text)).to.deep.include({ status });
      expect(JSON.parse(text).customer.document).to.equal(LOCK);
    }
    expect(await verified()).to.deep.equal({ differenceCount: 0, parked: [] });
  });

  it('coexists with events of the new form', async () => {
    const { status, text } = await served(
      'POST',
      '/v1/charges',
      { payment_method: 'pix', ...LOCKED },
      'upcast-new-form-1',
    );
    expect(status, text).to.equal(201);
    const fresh = [...(await inPostgres())].filter(([stream]) => !stored.has(stream));
    expect(fresh.map(([, { metadata }]) => JSON.parse(metadata).v)).to.deep.equal([2]);
  });

  it('is included in the person’s report, and exported as stored', async () => {
    const report = JSON.stringify(await tool('privacy', 'report', '--payment', ids.byPayer));
    expect(report).to.contain(LOCK);
    const exported = await run(
      process.execPath,
      [join(releases.newer, 'infrastructure/boot/cli.ts'), 'events', 'export'],
      {
        env: { PATH: process.env['PATH'], DATA_DIR: dataDir, ...env },
        maxBuffer: 1 << 26,
      },
    );
    const lines = exported.stdout.split('\n').filter((line) => line.includes('"ChargeCreated"'));
    for (const name of NAMES) {
      const line = lines.find((one) => JSON.parse(one).stream === streamOf(name)) ?? '{}';
      const [data, metadata] = (stored.get(streamOf(name)) as string).split('\n') as [string, string];
      expect(JSON.parse(line)).to.deep.include({ data: JSON.parse(data), metadata: JSON.parse(metadata) });
    }
  });

  it('is sealed as stored', async () => {
    const out = join(dataDir, 'audit');
    await tool('audit', 'export', '--out', out);
    const entries = await readFile(join(out, 'entries.ndjson'), 'utf8');
    for (const name of NAMES) {
      const [data] = (stored.get(streamOf(name)) as string).split('\n') as [string];
      const entry = entries
        .split('\n')
        .find((line) => line.includes(`"${streamOf(name)}"`) && line.includes('"ChargeCreated"'));
      expect(JSON.parse(entry ?? '{}').entry.data).to.deep.equal(JSON.parse(data));
    }
    expect(await tool('audit', 'verify', out)).to.deep.equal({ faults: [] });
    expect(await tool('audit', 'verify')).to.deep.include({ faults: [] });
  });

  it('is erased without changing the stored event', async () => {
    await tool('privacy', 'erase', '--payment', ids.byPayer, '--reason', 'request 17', '--despite-retention');
    for (;;) {
      const { customer } = JSON.parse((await served('GET', `/v1/charges/${ids.byPayer}`)).text);
      if (customer.document === null) break;
    }
    expect(JSON.stringify(await tool('privacy', 'report', '--payment', ids.byPayer))).to.not.contain(LOCK);
    expect(await verified()).to.deep.equal({ differenceCount: 0, parked: [] });
    const now = textsOf(await inPostgres());
    for (const [stream, text] of stored) expect(now.get(stream)).to.equal(text);
  });

  it('moves to another store as stored', async () => {
    const server = await EventStoreDbServer.start();
    expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
    const shown = textsOf(await inPostgres());
    const args = [join(releases.newer, 'infrastructure/boot/migrateEvents.ts'), '--to', server.connectionString];
    await run(process.execPath, args, { env: { PATH: process.env['PATH'], DATA_DIR: dataDir, ...env } });
    await start({ EVENTSTORE_URL: server.connectionString });
    const moved = await created(await openEventStoreDb({ connectionString: server.connectionString }));
    expect(textsOf(moved)).to.deep.equal(shown);
    const { text } = await served('GET', `/v1/charges/${ids.byPayer}`);
    expect(JSON.parse(text)).to.deep.include({ status: 'paid' });
    expect(await verified()).to.deep.equal({ differenceCount: 0, parked: [] });
    expect(await program.stop()).to.deep.equal({ code: 0, signal: null });
    await server.stop();
  });
});

// Analysts rely on the names, types and meanings of these views: any change here changes the documented interface (ADR 0016).
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import pg from 'pg';
import { connectionConfig, PgPool } from '../../../infrastructure/postgres/session.ts';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { publishIfChanged, startPublishing } from '../../../projections/engine/publishing.ts';
import { prepareLiveCopies, rebuild } from '../../../projections/engine/rebuild.ts';
import { ANALYST_VIEWS, PROJECTIONS } from '../../../projections/registry.ts';
import { Followed, Scene, taker } from '../engine/scene.ts';

const FILE = new URL('./definition.json', import.meta.url);

interface Described {
  readonly view: string;
  readonly comment: string | null;
  readonly columns: readonly string[];
}

const DESCRIBE = `SELECT c.relname AS view, obj_description(c.oid, 'pg_class') AS comment,
    array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ': ' || coalesce(col_description(c.oid, a.attnum), '')
      ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relnamespace = 'analytics'::regnamespace AND c.relkind = 'v' GROUP BY c.oid, c.relname ORDER BY c.relname`;

describe('the views for analysts', () => {
  let scene: Scene;
  before(async () => {
    scene = await Scene.open();
    await prepare(PROJECTIONS);
  });
  after(() => scene.close());
  const prepare = async (projections: typeof PROJECTIONS) => {
    const session = await scene.openSession('test');
    await prepareLiveCopies(projections, scene)(session);
    await session.close();
  };
  const described = async (): Promise<readonly Described[]> => (await scene.log.sql.query<Described>(DESCRIBE)).rows;
  const oids = async () => {
    const text = `SELECT relname AS view, oid FROM pg_class WHERE relnamespace = 'analytics'::regnamespace ORDER BY 1`;
    const { rows } = await scene.log.sql.query<{ view: string; oid: number }>(text);
    return new Map(rows.map(({ view, oid }) => [view, oid]));
  };

  it('have the documented names, types and comments', async () => {
    const now = await described();
    if (process.env['STORED_SHAPES'] === 'write') writeFileSync(FILE, `${JSON.stringify(now, null, 2)}\n`);
    expect(now).to.deep.equal(JSON.parse(readFileSync(FILE, 'utf8')));
    expect(now.map(({ view }) => view)).to.deep.equal(ANALYST_VIEWS.map(({ name }) => name).sort());
  });

  it('have an account, a mode, comments on everything, and a date column for exports', async () => {
    for (const { view, comment, columns } of await described()) {
      expect(comment, view).to.be.a('string');
      expect(columns, view).to.include.members([
        'account_id text: Account, without the prefix acct_.',
        'mode text: live, or test for the sandbox.',
      ]);
      for (const column of columns) expect(column, view).to.match(/^\w+ [a-z ]+: \S.*\.$/);
      const { day } = ANALYST_VIEWS.find(({ name }) => name === view) as (typeof ANALYST_VIEWS)[number];
      expect(
        columns.some((column) => column.startsWith(`${day} date: `)),
        view,
      ).to.equal(true);
    }
  });

  it('can be queried', async () => {
    for (const { name } of ANALYST_VIEWS)
      expect((await scene.log.sql.query(`SELECT * FROM analytics.${name}`)).rows, name).to.deep.equal([]);
  });

  it('are recreated with the same definition when their read models are rebuilt', async () => {
    const [definition, before] = [await described(), await oids()];
    await rebuild(PROJECTIONS, scene, scene.openSession);
    expect(await described()).to.deep.equal(definition);
    const after = await oids();
    for (const [view, oid] of before) expect(after.get(view), view).to.not.equal(oid);
  });

  it('stay unchanged while a new version of a read model is prepared', async () => {
    const definition = await described();
    await prepare(PROJECTIONS.map((one) => (one.name === 'wallet' ? { ...one, version: one.version + 1 } : one)));
    expect(await described()).to.deep.equal(definition);
    await prepare(PROJECTIONS);
  });

  describe('of another definition', () => {
    const CHANGED = PROJECTIONS.map((one) =>
      one.name === 'refunds'
        ? { ...one, published: one.published?.replaceAll('One row per refund', 'Every refund') }
        : one,
    ) as typeof PROJECTIONS;
    let db: PgPool;
    beforeEach(() => {
      db = new PgPool(connectionConfig(scene.log.connectionString, 'test'), 2, () => undefined);
    });
    afterEach(async () => {
      await publish(PROJECTIONS);
      await db.close();
    });
    const publish = async (projections: typeof PROJECTIONS) => {
      for (const one of projections) expect(await publishIfChanged(db, one), one.name).to.equal(true);
    };
    const commentOf = async () => (await described()).find(({ view }) => view === 'refunds')?.comment?.slice(0, 12);

    it('are replaced, and others are left alone', async () => {
      const before = await oids();
      await publish(PROJECTIONS);
      expect(await oids()).to.deep.equal(before);
      await publish(CHANGED);
      expect(await commentOf()).to.equal('Every refund');
      const after = await oids();
      expect([...before].filter(([view, oid]) => after.get(view) !== oid).map(([view]) => view)).to.deep.equal([
        'refunds',
      ]);
    });

    it('are left alone if the read model has another version', async () => {
      const newer = CHANGED.map((one) => ({ ...one, version: one.version + 1 }));
      for (const one of newer) expect(await publishIfChanged(db, one), one.name).to.equal(one.name !== 'refunds');
      expect(await commentOf()).to.equal('One row per ');
    });

    it('are replaced after a long transaction that reads them, for which no read model waits', async () => {
      const backup = new pg.Client({ connectionString: scene.log.connectionString });
      await backup.connect();
      await backup.query('BEGIN; SELECT FROM analytics.refunds');
      const followed = new Followed(scene, {
        consumers: [taker('refunds'), taker('wallet')],
        versionOf: ({ name }) => PROJECTIONS.find((one) => one.name === name)?.version ?? 0,
        prepare: prepareLiveCopies(CHANGED, scene),
      });
      const errors: string[] = [];
      const stop = startPublishing({
        projections: CHANGED,
        db,
        isLed: (name) => followed.subscriptions.ledOf(name) > 0,
        onError: ({ message }) => errors.push(message),
      });
      try {
        const waiting = `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%DROP VIEW%'`;
        await scene.backends.until(async () => (await scene.log.sql.query(waiting)).rowCount === 1);
        await scene.appendPayments(2);
        await followed.caughtUp();
        expect(await commentOf()).to.equal('One row per ');
        await backup.query('COMMIT');
        await scene.backends.until(async () => (await commentOf()) === 'Every refund');
        expect([errors, followed.faults]).to.deep.equal([[], []]);
      } finally {
        await stop();
        await followed.stop();
        await backup.end();
      }
    });
  });

  it('read from live copies only, never from one in progress', async () => {
    const text = `SELECT DISTINCT n.nspname AS schema FROM pg_depend d JOIN pg_rewrite w ON w.oid = d.objid
      JOIN pg_class v ON v.oid = w.ev_class JOIN pg_class t ON t.oid = d.refobjid JOIN pg_namespace n ON n.oid = t.relnamespace
      WHERE v.relnamespace = 'analytics'::regnamespace AND n.nspname LIKE 'rm%'`;
    const { rows } = await scene.log.sql.query<{ schema: string }>(text);
    const live = PROJECTIONS.map(({ name }) => liveSchema(name));
    expect(rows.filter(({ schema }) => !live.includes(schema))).to.deep.equal([]);
  });
});

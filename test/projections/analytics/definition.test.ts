// Analysts rely on the names, types and meanings of these views: any change here changes the documented interface (ADR 0016).
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { liveSchema } from '../../../projections/engine/projection.ts';
import { prepareLiveCopies, rebuild } from '../../../projections/engine/rebuild.ts';
import { ANALYST_VIEWS, PROJECTIONS } from '../../../projections/registry.ts';
import { Scene } from '../engine/scene.ts';

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

  it('are replaced when a program starts with another definition, and otherwise left alone', async () => {
    const before = await oids();
    await prepare(PROJECTIONS);
    expect(await oids()).to.deep.equal(before);
    const changed = PROJECTIONS.map((one) =>
      one.name === 'refunds'
        ? { ...one, published: one.published?.replaceAll('One row per refund', 'Every refund') }
        : one,
    );
    await prepare(changed as typeof PROJECTIONS);
    const refunds = (await described()).find(({ view }) => view === 'refunds');
    expect(refunds?.comment).to.match(/^Every refund/);
    const after = await oids();
    expect([...before].filter(([view, oid]) => after.get(view) !== oid).map(([view]) => view)).to.deep.equal([
      'refunds',
    ]);
    await prepare(PROJECTIONS);
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

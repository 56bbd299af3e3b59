// The stored shape of a read model is tied to its version. With another shape under the same version, a program would misread the rows and
// never rebuild them. `stored/<read model>.v<version>.json` holds the shape of each version.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { PROJECTIONS } from '../../projections/registry.ts';
import { type StoredShape, storedShape } from './storedShape.ts';

const FOLDER = new URL('./stored/', import.meta.url);
const fileOf = (name: string, version: number): URL => new URL(`${name}.v${version}.json`, FOLDER);
const HOW_TO_CHANGE =
  'What this read model stores has changed: raise its version in projection.ts, delete the file of the version before, and run ' +
  'STORED_SHAPES=write npx mocha test/projections/storedShape.test.ts, which writes the files that are missing';

if (process.env['STORED_SHAPES'] === 'write')
  for (const projection of PROJECTIONS) {
    const file = fileOf(projection.name, projection.version);
    if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(storedShape(projection), null, 2)}\n`);
  }

describe('the stored shape of read models', () => {
  it('has one file per read model, for its present version', () => {
    expect(readdirSync(FOLDER).sort()).to.deep.equal(
      PROJECTIONS.map(({ name, version }) => `${name}.v${version}.json`).sort(),
    );
  });
  for (const projection of PROJECTIONS)
    it(`of ${projection.name} is that of version ${projection.version}`, () => {
      const kept = JSON.parse(readFileSync(fileOf(projection.name, projection.version), 'utf8')) as StoredShape;
      expect(storedShape(projection), HOW_TO_CHANGE).to.deep.equal(kept);
    });
  it('has unique table names, so that all fit into one schema (engine/asOf.ts)', () => {
    const names = PROJECTIONS.flatMap(({ tables }) => tables.map(({ name }) => name));
    expect(names.filter((name, n) => names.indexOf(name) !== n)).to.deep.equal([]);
  });
  it('changes when a field is added, removed or changes its type', () => {
    const [projection] = PROJECTIONS.filter(({ name }) => name === 'webhookEndpoints');
    const [rows] = projection?.aggregates ?? [];
    if (projection === undefined || rows === undefined) throw new Error('endpoints are kept as states');
    const evolvingTo = (change: (state: object) => object) => ({
      ...projection,
      aggregates: [
        {
          ...rows,
          decider: {
            initial: rows.decider.initial,
            evolve: (state: unknown, event: unknown) => change(rows.decider.evolve(state, event) as object),
          },
        },
      ],
    });
    const shape = JSON.stringify(storedShape(projection));
    expect(JSON.stringify(storedShape(evolvingTo((state) => state)))).to.equal(shape);
    const { more, less, other }: Record<string, (state: object) => object> = {
      more: (state) => ({ ...state, isNew: true }),
      less: (state) => ({ ...state, url: undefined }),
      other: (state) => ({ ...state, secretVersion: '1' }),
    };
    for (const change of [more, less, other])
      expect(JSON.stringify(storedShape(evolvingTo(change as (state: object) => object)))).to.not.equal(shape);
  });
});

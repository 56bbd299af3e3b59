// Whatever a read model stores is tied to its version: another shape under the same version would be read by a program that does not
// expect it, and never be rebuilt. The shape of each version stands in `stored/<read model>.v<version>.json`.
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

describe('what a read model stores', () => {
  it('has a file for its present version, and none for another', () => {
    expect(readdirSync(FOLDER).sort()).to.deep.equal(
      PROJECTIONS.map(({ name, version }) => `${name}.v${version}.json`).sort(),
    );
  });
  for (const projection of PROJECTIONS)
    it(`${projection.name} stores what version ${projection.version} stored`, () => {
      const kept = JSON.parse(readFileSync(fileOf(projection.name, projection.version), 'utf8')) as StoredShape;
      expect(storedShape(projection), HOW_TO_CHANGE).to.deep.equal(kept);
    });
  it('has tables whose names no other read model has, so that all fit into one schema (engine/asOf.ts)', () => {
    const names = PROJECTIONS.flatMap(({ tables }) => tables.map(({ name }) => name));
    expect(names.filter((name, n) => names.indexOf(name) !== n)).to.deep.equal([]);
  });
  it('has another shape when a state has one field more, less, or of another kind', () => {
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

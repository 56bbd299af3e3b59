// The payload of a job has a version: an older worker skips newer payloads, and a newer worker must read all older ones. `payloads.json`
// records the schema of each version of each kind.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { CAPABILITIES } from '../../../application/capabilities.ts';
import { jobsOf } from '../../../application/core/capabilityList.ts';
import { unversioned, versioned, versionOf } from '../../../application/ports/payloadVersions.ts';

interface Schema {
  readonly required?: readonly string[];
  readonly properties: { readonly [name: string]: unknown };
}
/** For each kind, the schemas of its versions, starting with the first. */
type Recorded = { [kind: string]: readonly Schema[] };

const FILE = new URL('./payloads.json', import.meta.url);
const KINDS = jobsOf(CAPABILITIES).map(({ kind }) => kind);
const read = (): Recorded => (existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {});
const schemaOf = (kind: (typeof KINDS)[number]): Schema => JSON.parse(JSON.stringify(kind.schema));
const HOW_TO_CHANGE =
  'This payload has changed: raise the version of its kind, keep the new properties optional, and run ' +
  'PAYLOADS=write npx mocha test/application/core/payloadVersions.test.ts, which records the new version';

if (process.env['PAYLOADS'] === 'write') {
  const recorded = read();
  for (const kind of KINDS) {
    const known = recorded[kind.name] ?? [];
    if (known.length < (kind.version ?? 1)) recorded[kind.name] = [...known, schemaOf(kind)];
  }
  writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`);
}

describe('job payloads', () => {
  const recorded = read();
  it('are recorded for exactly the existing kinds', () => {
    expect(Object.keys(recorded).toSorted()).to.deep.equal(KINDS.map(({ name }) => name).toSorted());
  });
  for (const kind of KINDS)
    it(`of ${kind.name} match its recorded version`, () => {
      const versions = recorded[kind.name] ?? [];
      expect(versions.length, HOW_TO_CHANGE).to.equal(kind.version);
      expect(schemaOf(kind), HOW_TO_CHANGE).to.deep.equal(versions.at(-1));
      expect(Object.keys(schemaOf(kind).properties), 'the name of the version').to.not.include('v');
    });
  it('of older versions stay valid: newer schemas keep their properties and require no new ones', () => {
    const broken = Object.entries(recorded).flatMap(([name, versions]) =>
      versions.slice(1).flatMap((newer, i) => {
        const older = versions[i] as Schema;
        const lost = Object.keys(older.properties).filter((property) => !(property in newer.properties));
        const needed = (newer.required ?? []).filter((property) => !older.required?.includes(property));
        return [...lost, ...needed].map((property) => `${name} ${i + 2}: ${property}`);
      }),
    );
    expect(broken).to.deep.equal([]);
  });
  it('carry a version only above 1, and keep a version that they already have', () => {
    const payload = { id: 'a' };
    expect(versioned(payload, { version: 1 })).to.equal(payload);
    expect(versioned(payload, {})).to.equal(payload);
    expect(JSON.stringify(versioned(payload, { version: 2 }))).to.equal('{"v":2,"id":"a"}');
    expect(versioned({ v: 3, id: 'a' }, { version: 2 })).to.deep.equal({ v: 3, id: 'a' });
    expect([payload, { v: 2, id: 'a' }].map(versionOf)).to.deep.equal([1, 2]);
    expect([payload, { v: 2, id: 'a' }].map(unversioned)).to.deep.equal([payload, payload]);
  });
});

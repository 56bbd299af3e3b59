// Data of every earlier release and of this one is restored, migrated, verified and served.
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { restore } from '../../infrastructure/databaseCopy/restore.ts';
import { verify } from '../../projections/engine/verify.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { NOON, PUBLIC_URL } from '../http/openapi/scenario.ts';
import { ANSWERS, askAll, DUMP, DUMP_BYTES_MAX, type KeptAnswers, keptReleases, RELEASES } from '../releases/kept.ts';
import { TEST_SECRETS_KEY } from '../support/dataKeys.ts';
import { TestGateway } from '../world/gateway.ts';
import { emptyDatabase, type TestDatabase } from '../world/postgres.ts';
import { cli, newDataDir, removeDataDir } from '../world/program.ts';

/**
 * Returns the paths of recorded values that are missing or different. Additional fields are allowed, because later releases may return
 * more.
 */
const lost = (recorded: unknown, found: unknown, path: string): readonly string[] => {
  if (typeof recorded !== 'object' || recorded === null)
    return recorded === found ? [] : [`${path}: ${recorded} became ${found}`];
  if (typeof found !== 'object' || found === null) return [`${path}: became ${found}`];
  const count =
    Array.isArray(recorded) && recorded.length !== (found as unknown[]).length ? [`${path}: another length`] : [];
  return [
    ...count,
    ...Object.entries(recorded).flatMap(([key, value]) =>
      lost(value, (found as Record<string, unknown>)[key], `${path}.${key}`),
    ),
  ];
};

for (const version of keptReleases())
  describe(`the data of release ${version}`, () => {
    const folder = new URL(`${version}/`, RELEASES);
    const file = fileURLToPath(new URL(DUMP, folder));
    let database: TestDatabase;
    let gateway: TestGateway;

    before(async () => {
      database = await emptyDatabase();
      await restore(database.connectionString, file);
      const roles = { serves: true, projects: true, works: false }; // Its webhooks would go to a receiver that no longer exists.
      gateway = await TestGateway.open({ database, roles, clock: { now: () => NOON }, publicUrl: PUBLIC_URL });
      await gateway.untilProjected();
    });
    after(async () => {
      await gateway.close();
      await database.drop();
    });

    it('has a small dump', async () => {
      expect((await stat(file)).size).to.be.at.most(DUMP_BYTES_MAX);
    });

    it('builds read models that equal the replay', async () => {
      const { differences, parked } = await verify(PROJECTIONS, gateway.storage, gateway.storage.openSession);
      expect({ differences, parked }).to.deep.equal({ differences: [], parked: [] });
    });

    it('gives the same answers as before', async () => {
      const kept = JSON.parse(await readFile(new URL(ANSWERS, folder), 'utf8')) as KeptAnswers;
      for (const mode of ['testKey', 'liveKey'] as const)
        expect(lost(kept.answers[mode], await askAll(gateway, kept.keys[mode]), mode)).to.deep.equal([]);
      expect(gateway.faults).to.deep.equal([]);
    });

    it('has a sound audit log', async () => {
      const dataDir = await newDataDir();
      const env = { DATABASE_URL: database.connectionString, SECRETS_KEY: TEST_SECRETS_KEY.toString('base64') };
      expect(await cli(dataDir, ['audit', 'verify'], env)).to.deep.include({ faults: [] });
      await removeDataDir(dataDir);
    });

    it('is restored into an empty database only', async () => {
      const error = await restore(database.connectionString, file).catch((thrown: Error) => thrown.message);
      expect(error).to.equal('the database has data: restore into an empty one');
    });
  });

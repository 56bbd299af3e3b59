// `doctor --after-restore` compares files of evidence with the log. An erasure removed its files for good.
import { join } from 'node:path';
import { expect } from 'chai';
import { runWordsIn, toolEnv } from '../../support/cli.ts';
import type { TestGateway } from '../../world/gateway.ts';
import { openReady, rawIdOf } from '../../world/http.ts';
import { PersonDesk } from '../../world/personDesk.ts';
import { migratedDatabase, type TestDatabase } from '../../world/postgres.ts';
import { newDataDir, removeDataDir } from '../../world/program.ts';

interface Findings {
  readonly findings: readonly { readonly check: string; readonly isGood: boolean; readonly says: string }[];
}

describe('doctor --after-restore on evidence', () => {
  let dataDir: string;
  let database: TestDatabase;
  let gateway: TestGateway;
  let desk: PersonDesk;
  beforeEach(async () => {
    [dataDir, database] = await Promise.all([newDataDir(), migratedDatabase()]);
    gateway = await openReady({ database, evidence: { folder: join(dataDir, 'evidence') } });
    desk = await PersonDesk.open(gateway);
  });
  afterEach(async () => {
    await desk.close();
    await gateway.close();
    await database.drop();
    await removeDataDir(dataDir);
  });

  const filesIn = async (folder: string) => {
    const env = { ...toolEnv(database.connectionString), DATA_DIR: folder };
    const { json } = await runWordsIn<Findings>(env, 'doctor', '--after-restore', '--json');
    const found = json.findings.find(({ check }) => check === 'evidence files');
    return [found?.isGood, found?.says];
  };

  it('names cases whose files are missing, but not those that were erased', async () => {
    await desk.payInFull();
    expect(await filesIn(dataDir)).to.deep.equal([true, 'all 1 stored']);
    expect(await filesIn(join(dataDir, 'elsewhere'))).to.deep.equal([
      false,
      `missing for ${desk.caseId}: restore the files, or ask the merchant for them`,
    ]);
    const order = { payment: desk.chargeId, reason: 'request 17', despiteRetention: true };
    const { status, text } = await desk.operate('erase', order);
    expect(status, text).to.equal(200);
    await desk.untilErased([rawIdOf(desk.chargeId)]);
    expect(await filesIn(dataDir)).to.deep.equal([true, 'all 0 stored']);
  });
});

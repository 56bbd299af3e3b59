// `doctor --after-restore` compares evidence files with the log and records received payments again. An erasure removed its files for good.
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { runWords, runWordsIn, toolEnv } from '../../support/cli.ts';
import { type Added, ConnectionDesk } from '../../world/connectionDesk.ts';
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

  it('names cases with missing files, but not erased cases', async () => {
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

describe('doctor --after-restore on data keys', () => {
  let database: TestDatabase;
  let sql: pg.Client;
  beforeEach(async () => {
    database = await migratedDatabase();
    sql = new pg.Client({ connectionString: database.connectionString });
    await sql.connect();
  });
  afterEach(async () => {
    await sql.end();
    await database.drop();
  });

  const found = async (check = 'lost data keys', ...more: readonly string[]) => {
    const words = ['doctor', '--after-restore', '--json', ...more];
    const { json } = await runWords<Findings>(database.connectionString, ...words);
    const finding = json.findings.find((one) => one.check === check);
    return [finding?.isGood, finding?.says];
  };

  it('names payments and payouts of the lost time whose keys are missing, after all programs have stopped', async () => {
    const gateway = await openReady({ database });
    const desk = await PersonDesk.open(gateway);
    const { id: earlier } = await desk.post<{ id: string }>('/v1/charges', desk.chargeBody(), 201);
    const backup = await gateway.storage.store.head();
    await desk.payInFull();
    await desk.payOut();
    await desk.close();
    expect(await found('programs')).to.deep.equal([
      false,
      'some run (projector, reactor), so the checkpoints no longer show what the restore lost: stop all of them, then run doctor --after-restore --all',
    ]);
    await gateway.close();
    expect(await found('programs')).to.deep.equal([true, 'all stopped']);
    await sql.query('UPDATE subscriptions.checkpoints SET position = $1, event_id = NULL', [backup]);
    expect(await found()).to.deep.equal([true, 'none']);
    expect(await found('lost time')).to.deep.equal([true, `events after position ${backup} compared`]);
    expect((await sql.query('DELETE FROM privacy.data_keys')).rowCount).to.equal(3);
    const missingFor = (...owners: readonly string[]) =>
      `missing for ${owners.join(', ')}: restore their rows of privacy.data_keys from a newer copy, if there is one; otherwise their personal data reads as erased`;
    expect(await found()).to.deep.equal([false, missingFor(desk.chargeId, desk.payoutId)]);
    expect(await found('lost time', '--all')).to.deep.equal([true, 'all events compared']);
    expect(await found('lost data keys', '--all')).to.deep.equal([
      false,
      missingFor(earlier, desk.chargeId, desk.payoutId),
    ]);
  });

  it('rejects --all without --after-restore', async () => {
    const { code, err } = await runWords(database.connectionString, 'doctor', '--all');
    expect([code, err.split('\n').at(-2)]).to.deep.equal([2, 'quita: --all needs --after-restore']);
  });
});

describe('doctor --after-restore on received payments', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await migratedDatabase();
  });
  afterEach(() => database.drop());

  const payLive = async (desk: ConnectionDesk, bank: Awaited<ReturnType<ConnectionDesk['simulator']>>) => {
    const { id, callbackUrl }: Added = await desk.add(bank);
    await desk.untilRouted(1);
    expect((await desk.charge()).status).to.equal(201);
    const { charges } = bank.state().clients[0] as { charges: readonly { readonly txid: string }[] };
    const txid = charges[0]?.txid as string;
    bank.pay(txid);
    const { received } = bank.state().clients[0] as { received: readonly { endToEndId: string }[] };
    const pix = [{ endToEndId: received[0]?.endToEndId, txid }];
    expect((await fetch(callbackUrl, { method: 'POST', body: JSON.stringify({ pix }) })).status).to.equal(200);
    await desk.untilFinal(id);
  };

  const doctor = async () => {
    const { json } = await runWords<Findings>(database.connectionString, 'doctor', '--after-restore', '--json');
    return json.findings.find(({ check }) => check === 'received payments')?.says.split(' ')[0];
  };

  it('records their claims again, once, also while programs run', async () => {
    const desk = await ConnectionDesk.open({ database });
    const { operations } = desk.gateway.storage;
    const claims = async () => (await operations.query('SELECT * FROM operations.received_claims')).rows;
    try {
      await payLive(desk, await desk.simulator());
      const before = await claims();
      expect(before).to.have.length(1);
      expect(await doctor(), 'nothing is lost').to.equal('0');
      await operations.query('DELETE FROM operations.received_claims');
      expect(await doctor()).to.equal('1');
      expect(await claims()).to.deep.equal(before);
      expect(await doctor()).to.equal('0');
    } finally {
      await desk.close();
    }
  });

  it('records their claims again after programs have moved the checkpoints to the head', async () => {
    const desk = await ConnectionDesk.open({ database });
    try {
      await payLive(desk, await desk.simulator());
      const { operations } = desk.gateway.storage;
      expect((await operations.query('DELETE FROM operations.received_claims')).rowCount).to.equal(1);
      await desk.gateway.untilProjected();
    } finally {
      await desk.close();
    }
    expect(await doctor()).to.equal('1');
  });
});

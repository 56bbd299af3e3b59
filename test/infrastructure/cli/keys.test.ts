// The operator's commands for keys and suspensions, beside the running gateway (rule O1).

import { expect } from 'chai';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { KEYRING } from '../../../domain/keyring/keyring.ts';
import { type CliRun, runWords } from '../../support/cli.ts';
import { startedDatabase, TestGateway, type TestTenant } from '../../world/gateway.ts';
import type { TestDatabase } from '../../world/postgres.ts';

interface ListedKey {
  readonly keyId: string;
  readonly prefix: string;
  readonly label: string | null;
  readonly mode: string;
  readonly lastUsedAt: string | null;
}
interface NewKey extends ListedKey {
  readonly apiKey: string;
  readonly fingerprint: string;
}

describe('the key commands', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let tenant: TestTenant;
  let account: string;

  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  beforeEach(async () => {
    tenant = await gateway.newTenant();
    account = ACCOUNT.idPrefix + tenant.accountId;
  });

  const run = <T = Record<string, unknown>>(...words: string[]): Promise<CliRun<T>> =>
    runWords<T>(database.connectionString, ...words);
  const keys = async () => (await run<{ keys: ListedKey[] }>('key', 'list', account, '--json')).json.keys;
  const status = async (key: string) => (await gateway.get('/v1/wallets', { key })).status;
  const refused = async (message: string, ...words: string[]) => {
    const { code, err } = await run(...words);
    expect([code, err.trim().split('\n').at(-1)]).to.deep.equal([2, `quita: ${message}`]);
  };

  it('issue a working key and show it once', async () => {
    const { code, json, err } = await run<NewKey>('key', 'issue', account, '--test', '--label', 'till', '--json');
    expect([code, json.mode, json.label, json.prefix]).to.deep.equal([0, 'test', 'till', json.apiKey.slice(0, 12)]);
    expect(json.fingerprint).to.match(/^[0-9a-f]{16}$/);
    expect(await status(json.apiKey)).to.equal(200);
    expect(err).to.not.contain(json.apiKey);
    const { out } = await run('key', 'list', account);
    expect(out).to.contain(json.keyId).and.to.not.contain(json.apiKey);
    const live = await run('key', 'issue', account);
    expect(live.out).to.match(
      /^key {10}key_\w{26}\nAPI key {6}ak_live_[\w-]{32}\nfingerprint {2}[0-9a-f]{16}\nThe API key is shown/,
    );
  });

  it('list the active keys in order of issue, or report that there are none', async () => {
    expect((await keys()).map(({ label, mode, lastUsedAt }) => [label, mode, lastUsedAt])).to.deep.equal([
      ['test', 'test', null],
      ['live', 'live', null],
    ]);
    const usedAt = '2026-11-21T12:00:00.000Z';
    await gateway.storage.operations.query(
      'INSERT INTO operations.api_key_uses (key_id, last_used_at) VALUES ($1, $2)',
      [(await keys())[1]?.keyId.slice(PREFIX.key.length), usedAt],
    );
    expect((await keys()).map(({ lastUsedAt }) => lastUsedAt)).to.deep.equal([null, usedAt]);
    for (const { keyId } of await keys()) await run('key', 'revoke', account, keyId);
    expect((await run('key', 'list', account)).out.trim()).to.equal('no keys');
  });

  it('rotate a key: the old one stops working and the new one works before the command ends', async () => {
    expect(await status(tenant.testKey)).to.equal(200);
    const [old] = await keys();
    const { json } = await run<NewKey>('key', 'rotate', account, old!.keyId, '--json');
    expect([json.mode, json.label]).to.deep.equal(['test', 'test']);
    expect([await status(tenant.testKey), await status(json.apiKey)]).to.deep.equal([401, 200]);
    await refused('There is no such API key.', 'key', 'rotate', account, old!.keyId);
    const again = await run<NewKey>('key', 'rotate', account, json.keyId, '--label', 'counter', '--json');
    expect(again.json.label).to.equal('counter');
  });

  it('revoke a key permanently', async () => {
    expect(await status(tenant.testKey)).to.equal(200);
    const [old] = await keys();
    const { code, out } = await run('key', 'revoke', account, old!.keyId);
    expect([code, out.trim()]).to.deep.equal([0, `${old!.keyId} (${old!.prefix}) is revoked`]);
    expect(await status(tenant.testKey)).to.equal(401);
    await refused('There is no such API key.', 'key', 'revoke', account, old!.keyId);
    expect((await keys()).map(({ mode }) => mode)).to.deep.equal(['live']);
    const actors: unknown[] = [];
    for await (const { metadata } of gateway.storage.store.readStream(KEYRING.stream(tenant.accountId)))
      actors.push((JSON.parse(metadata) as { actor: string }).actor);
    expect(actors.at(-1)).to.match(/^operator:./);
  });

  it('reject unknown accounts, unknown keys and invalid arguments', async () => {
    const nobody = 'acct_00000000000000000000000000';
    const [key] = await keys();
    await refused('There is no such account.', 'key', 'issue', nobody);
    await refused('There is no such API key.', 'key', 'revoke', nobody, key!.keyId);
    await refused('"x" is not an API key id (key_…); key list shows them', 'key', 'rotate', account, 'x');
    await refused('--label must be at most 64 characters.', 'key', 'issue', account, '--label', 'x'.repeat(65));
    expect(await keys()).to.have.length(2);
  });

  it('suspend an account, whose keys are rejected until it is reopened', async () => {
    expect(await status(tenant.testKey)).to.equal(200);
    const { json } = await run<{ accountId: string; suspendedAt: string }>('account', 'suspend', account, '--json');
    expect(json.accountId).to.equal(account);
    expect([
      await status(tenant.testKey),
      await status(tenant.liveKey),
      await status(gateway.tenant.testKey),
    ]).to.deep.equal([401, 401, 200]);
    expect((await run('account', 'suspend', account)).out.trim()).to.equal(
      `${account} has been suspended since ${json.suspendedAt}`,
    );
    expect((await run('account', 'reopen', account)).out.trim()).to.equal(`${account} is open again`);
    expect(await status(tenant.testKey)).to.equal(200);
    expect((await run('account', 'reopen', account)).out.trim()).to.equal(`${account} was not suspended`);
    for (const verb of ['suspend', 'reopen'])
      await refused('There is no such account.', 'account', verb, 'acct_00000000000000000000000000');
  });
});

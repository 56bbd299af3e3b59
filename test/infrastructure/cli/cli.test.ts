// The operator's commands beside the running program (rule O1): held, ledger show, account list.
import { expect } from 'chai';
import { DECLARED_SETTINGS } from '../../../application/capabilities.ts';
import type { PaymentId } from '../../../domain/kernel/ids.ts';
import { commands as accountCommands } from '../../../infrastructure/accounts/terminal.ts';
import { operatorOf } from '../../../infrastructure/cli/operator.ts';
import { commands as operationCommands } from '../../../infrastructure/operations/terminal.ts';
import { commands as heldCommands } from '../../../infrastructure/payments/terminal.ts';
import { type CliRun, runWords } from '../../support/cli.ts';
import { newKey, startedDatabase, TestGateway } from '../../world/gateway.ts';
import { rawIdOf } from '../../world/http.ts';
import type { TestDatabase } from '../../world/postgres.ts';
import { refusedReturn } from '../../world/refusedReturn.ts';

type Body = Record<string, unknown>;
interface Posting {
  readonly event: string;
  readonly account: string;
  readonly amount: number;
  readonly sum: number;
  readonly at: string;
  readonly what: string;
}
interface Shown {
  readonly stream: string;
  readonly postings: readonly Posting[];
  readonly totals: unknown;
  readonly differences: readonly string[];
}

describe('the command line', () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  let account: string;
  before(async () => {
    database = await startedDatabase();
    gateway = await TestGateway.open({ database });
    account = `acct_${gateway.tenant.accountId}`;
  });
  after(async () => {
    await gateway.close();
    await database.drop();
  });
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const run = <T = Body>(...words: string[]): Promise<CliRun<T>> => runWords<T>(database.connectionString, ...words);
  /** Returns the lines of the security log, the only output on standard error when a command succeeds. */
  const logged = (err: string): readonly Body[] =>
    err
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Body);
  const good = async <T = Body>(...words: string[]): Promise<T> => {
    const { code, err, json } = await run<T>(...words, '--json');
    expect(code, err).to.equal(0);
    for (const line of logged(err)) expect(line['security']).to.be.oneOf(['operator_command', 'settings_changed']);
    return json;
  };
  const refused = async (message: string, ...words: string[]) => {
    const { code, out, err } = await run(...words);
    const said = err.split('\n').filter((line) => !line.startsWith('{'));
    expect([code, out, said]).to.deep.equal([2, '', [`quita: ${message}`, '']]);
  };
  const projected = () => gateway.untilProjected();
  const paid = async (body: Body, payer: Body, outcome: string) => {
    const { body: made } = await gateway.charge({ amount: 10_000, ...body });
    const id = made['id'] as string;
    const reply = await gateway.post(`/v1/sandbox/charges/${id}/pay`, payer);
    expect([reply.status, reply.body['outcome']], reply.text).to.deep.equal([200, outcome]);
    await projected();
    return { id, tx: `tx_${rawIdOf(id) as PaymentId}`, providerPaymentId: reply.body['end_to_end_id'] as string };
  };
  const held = () =>
    paid(
      { expected_payer_tax_id: '12345678909', customer: { name: 'Ana Souza' } },
      { payer: { name: 'ANA S', document: null } },
      'held',
    );

  for (const { name } of [...accountCommands(DECLARED_SETTINGS), ...heldCommands, ...operationCommands])
    it(`${name} --help prints its usage`, async () => {
      const { code, out } = await run(...name.split(' '), '--help');
      expect(code).to.equal(0);
      expect(out).to.match(new RegExp(`^Usage: npm run cli -- ${name}`));
      expect(out).to.contain('  --json  ');
    });

  describe('held', () => {
    it('lists, releases and returns a Pix; repeating a command changes nothing, the opposite command is rejected', async () => {
      const [one, two] = [await held(), await held()];
      const list = await good<{ held: Body[]; total: number }>('held', 'list');
      const shown = ({ tx, providerPaymentId }: typeof one) => ({
        paymentId: tx,
        accountId: account,
        mode: 'test',
        amount: 10_000,
        currency: 'BRL',
        providerPaymentId,
        payerName: 'ANA S',
        expectedPayerTaxId: '12345678909',
        reason: 'no_payer_document',
        returnRefused: null,
      });
      expect(list.held.map(({ heldSince: _, ...rest }) => rest)).to.deep.equal([one, two].map(shown));
      expect(list.total).to.equal(2);
      const { out } = await run('held', 'list');
      const line = `${list.held[0]?.['heldSince']}  ${one.tx}  ${account}  test  BRL 100.00  ${one.providerPaymentId}  payer ANA S, expected 12345678909\n`;
      expect(out.slice(0, line.length)).to.equal(line);

      const released = { paymentId: one.tx, status: 'PAID' };
      expect(await good('held', 'release', one.id)).to.deep.equal({ ...released, isNew: true });
      expect(await good('held', 'release', one.tx)).to.deep.equal({ ...released, isNew: false });
      await refused('This payment is not held for review.', 'held', 'return', one.id);
      expect(await good('held', 'return', rawIdOf(two.id))).to.include({ paymentId: two.tx, isNew: true });
      expect(await good('held', 'return', two.id)).to.include({ paymentId: two.tx, isNew: false });
      await refused('This payment is not held for review.', 'held', 'release', two.id);
      await projected();
      expect(await good('held', 'list')).to.deep.equal({ held: [], total: 0 });
      expect((await run('held', 'list')).out).to.equal('no payments are held\n');
    });
    it('settles by Pix-out or write-off, with a reason, once', async () => {
      const { id } = await refusedReturn(gateway);
      const tx = `tx_${rawIdOf(id)}`;
      await projected();
      const { out } = await run('held', 'list');
      expect(out).to.contain(
        'payer_mismatch, the provider refuses the return: The sandbox bank refuses returns of this charge.\n',
      );
      const either = 'Specify either a Pix key for the payout or a write-off.';
      await refused(either, 'held', 'settle', id, '--reason', 'closed');
      await refused(either, 'held', 'settle', id, '--pix-out', 'a@b.com', '--written-off', '--reason', 'closed');
      const settle = ['held', 'settle', id, '--written-off', '--reason', 'closed'];
      expect(await good(...settle)).to.deep.equal({ paymentId: tx, status: 'REFUNDED', isNew: true });
      await refused('An operator already settled this money.', ...settle);
      const { id: other } = await refusedReturn(gateway);
      const paying = await good('held', 'settle', other, '--pix-out', 'a@b.com', '--reason', 'closed');
      expect(paying).to.deep.equal({ paymentId: `tx_${rawIdOf(other)}`, status: 'PROCESSING', isNew: true });
      await projected();
      expect(await good('held', 'list')).to.deep.equal({ held: [], total: 0 });
    });
    it('rejects unknown and invalid payment IDs', async () => {
      await refused('There is no such payment.', 'held', 'release', 'ch_00000000000000000000000000');
      await refused(
        '"po_1" is not a payment id: use a ch_ id, a tx_ id or the 26 characters alone',
        'held',
        'return',
        'po_1',
      );
    });
  });

  describe('ledger show', () => {
    const rows = ({ postings }: Shown) =>
      postings.map(({ event, account: on, amount, sum }) => [event, on, amount, sum]);

    it('explains every cent of a Pix that was held and released', async () => {
      const { id, tx, providerPaymentId } = await held();
      await good('held', 'release', id);
      await projected();
      const shown = await good<Shown>('ledger', 'show', id);
      expect([shown.stream, shown.totals, shown.differences]).to.deep.equal([
        `payment-${rawIdOf(id)}`,
        [{ currency: 'BRL', sum: 0 }],
        [],
      ]);
      expect(await good('ledger', 'show', tx)).to.deep.equal(shown);
      expect(rows(shown)).to.deep.equal([
        ['TransactionHeld', 'provider_clearing', -10_000, -10_000],
        ['TransactionHeld', 'payer_returns', 10_000, 10_000],
        ['TransactionHeldReleased', 'payer_returns', -10_000, 0],
        ['TransactionHeldReleased', 'provider_clearing', 10_000, 0],
        ['TransactionSettled', 'provider_clearing', -10_000, -10_000],
        ['TransactionSettled', 'merchant_available', 9_890, 9_890],
        ['TransactionSettled', 'provider_fees', 10, 10],
        ['TransactionSettled', 'platform_fees', 100, 100],
      ]);
      expect(shown.postings.map(({ what }) => what)).to.deep.equal([
        `received by the provider: held for review (${providerPaymentId})`,
        `owed to the payer: held for review (${providerPaymentId})`,
        `no longer owed to the payer: ${operatorOf()} released the held Pix`,
        `paid out by the provider: ${operatorOf()} released the held Pix`,
        `received by the provider: the payer paid by PIX (${providerPaymentId})`,
        `into the merchant’s available balance: the payer paid by PIX (${providerPaymentId})`,
        `the provider’s fee: the payer paid by PIX (${providerPaymentId})`,
        `into the platform’s account: the payer paid by PIX (${providerPaymentId})`,
      ]);
      const { code, out } = await run('ledger', 'show', id);
      expect(code).to.equal(0);
      expect(out.split('\n')).to.have.length(10);
      expect(out).to.match(/ merchant_available {2}BRL {11}98\.90 {11}98\.90 {2}into the merchant’s available balance/);
      expect(out).to.match(/\nBRL: all postings sum to 0\.00\n$/);
    });
    it('explains every cent of a payout', async () => {
      await paid({}, {}, 'settled');
      const { id } = (
        await gateway.post<{ id: string }>(
          '/v1/payouts',
          { amount: 1_000, destination: { pix_key: 'ana@example.com' } },
          { idempotencyKey: newKey() },
        )
      ).body;
      await gateway.post(`/v1/sandbox/payouts/${id}/confirm`);
      await projected();
      const shown = await good<Shown>('ledger', 'show', id);
      expect([shown.stream, shown.totals, shown.differences]).to.deep.equal([
        `payout-${rawIdOf(id)}`,
        [{ currency: 'BRL', sum: 0 }],
        [],
      ]);
      expect(rows(shown)).to.deep.equal([
        ['PayoutRequested', 'merchant_available', -1_050, -1_050],
        ['PayoutRequested', 'payouts_in_transit', 1_050, 1_050],
        ['PayoutPaid', 'payouts_in_transit', -1_050, 0],
        ['PayoutPaid', 'provider_clearing', 1_000, 1_000],
        ['PayoutPaid', 'provider_fees', 50, 50],
      ]);
      const { body } = await gateway.get<{ end_to_end_id: string }>(`/v1/payouts/${id}`);
      expect(shown.postings.map(({ what }) => what)).to.deep.equal([
        'out of the merchant’s available balance: the merchant requested the payout',
        'on its way to the merchant: the merchant requested the payout',
        `arrived at the merchant, or returned: the bank paid the payout (${body.end_to_end_id})`,
        `paid out by the provider: the bank paid the payout (${body.end_to_end_id})`,
        `the provider’s fee: the bank paid the payout (${body.end_to_end_id})`,
      ]);
    });
    it('reports a payment without postings, and rejects unknown payments', async () => {
      const { body } = await gateway.charge();
      expect((await run('ledger', 'show', body['id'] as string)).out).to.equal('no postings\n');
      const missing = 'There is no such payment or payout.';
      for (const prefix of ['tx_', 'po_']) await refused(missing, 'ledger', 'show', prefix + '0'.repeat(26));
      await refused(
        '"po_1" is not a stream: use an id such as ch_… or po_…, or a name such as payment-<raw id>',
        'ledger',
        'show',
        'po_1',
      );
    });
    it('exits with code 1 if the ledger differs from the events', async () => {
      const { id } = await paid({}, {}, 'settled');
      const spoil = (change: string) =>
        gateway.storage.reads.query(`UPDATE rm_wallet.entries SET ${change} WHERE payment_id = '${rawIdOf(id)}'`);
      await spoil('amounts[2] = amounts[2] + 1');
      const { code, json } = await run<Shown>('ledger', 'show', id, '--json');
      await spoil('amounts[2] = amounts[2] - 1');
      expect(code).to.equal(1);
      expect(json.differences).to.deep.equal([
        'not in the ledger: @2.1 merchant_available BRL 9890',
        'in the ledger, but not in any event: @2.1 merchant_available BRL 9891',
      ]);
      expect((await run('ledger', 'show', id)).code).to.equal(0);
    });
  });

  describe('account', () => {
    it('list shows all accounts in the order they were opened', async () => {
      const made = await good('account', 'create', '--name', 'Padaria', '--email', 'p@example.com');
      await projected();
      const { accounts } = await good<{ accounts: Body[] }>('account', 'list');
      expect(accounts.map(({ openedAt: _, ...rest }) => rest)).to.deep.equal([
        { accountId: account, name: 'Loja de Teste', email: 'teste@example.com', suspendedAt: null },
        { accountId: made['accountId'], name: 'Padaria', email: 'p@example.com', suspendedAt: null },
      ]);
      const { out } = await run('account', 'list');
      expect(out).to.contain(`${accounts[1]?.['openedAt']}  ${made['accountId']}  p@example.com  open  Padaria\n`);
      const { suspendedAt } = await good('account', 'suspend', `${made['accountId']}`);
      await projected();
      const listed = await good<{ accounts: Body[] }>('account', 'list');
      expect(listed.accounts.map((one) => one['suspendedAt'])).to.deep.equal([null, suspendedAt]);
      const { out: suspended } = await run('account', 'list');
      expect(suspended).to.contain(`  p@example.com  suspended since ${suspendedAt}  Padaria\n`);
      await good('account', 'reopen', `${made['accountId']}`);
      await projected();
      expect(await good('account', 'list')).to.deep.equal({ accounts });
    });
  });

  describe('the security log', () => {
    const who = operatorOf();
    const shown = (err: string) => logged(err).map(({ time: _, level: __, msg: ___, ...rest }) => rest);

    it('records who changed what, without personal data or secrets', async () => {
      const words = ['account', 'create', '--name', 'Padaria da Ana', '--email', 'ana@example.com'];
      const { err, json } = await run<{
        accountId: string;
        userId: string;
        password: string;
        testApiKey: string;
        liveApiKey: string;
      }>(...words, '--json');
      const told = { security: 'operator_command', by: who, outcome: 'done' };
      const { accountId, userId, password, testApiKey, liveApiKey } = json;
      expect(shown(err)).to.deep.equal([
        { ...told, command: 'account create', args: [], options: ['name', 'email'], accountId, userId },
      ]);
      for (const secret of ['Padaria', 'ana@', password, testApiKey, liveApiKey]) expect(err).to.not.contain(secret);

      const changed = await run('account', 'settings', account, '--rate-limit', '77');
      expect(shown(changed.err)).to.deep.equal([
        { security: 'settings_changed', setting: 'account', account, by: who, changed: ['rate-limit'] },
        { ...told, command: 'account settings', args: [account], options: ['rate-limit'], accountId: account },
      ]);
      const { err: again } = await run('account', 'settings', account, '--rate-limit', 'default');
      expect(shown(again)).to.have.length(2);
    });
    it('records rejected commands with their operator', async () => {
      const id = 'ch_00000000000000000000000000';
      const { err } = await run('held', 'release', id);
      expect(shown(err.slice(0, err.indexOf('\n')))).to.deep.equal([
        { security: 'operator_command', by: who, command: 'held release', args: [id], options: [], outcome: 'refused' },
      ]);
      expect(err.split('\n')[1]).to.equal('quita: There is no such payment.');
    });
    it('records nothing for commands that only read', async () => {
      for (const words of [
        ['account', 'list'],
        ['account', 'settings', account],
        ['held', 'list'],
        ['ledger', 'check'],
      ])
        expect((await run(...words)).err, words.join(' ')).to.equal('');
    });
    it('names operators as the events do', async () => {
      await projected();
      const { rows } = await gateway.storage.operations.query<{ actor: string }>(
        `SELECT DISTINCT metadata::jsonb ->> 'actor' AS actor FROM event_store.events WHERE stream LIKE 'account-%'
         AND metadata::jsonb ->> 'actor' LIKE 'operator:%' ORDER BY 1`,
      );
      expect(rows.map(({ actor }) => actor)).to.include(who);
    });
  });
});

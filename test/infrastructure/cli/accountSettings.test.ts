// The CLI shows and changes the settings of one account (rules E6, E8, M1, M2, M7a).

import { expect } from 'chai';
import { SETTING_BOUNDS } from '../../../domain/account/ownSettings.ts';
import { type CliRun, runWords } from '../../support/cli.ts';
import { pdfText } from '../../support/pdfText.ts';
import { parseBrCode } from '../../support/pix/brCodeParse.ts';
import { startedDatabase, TestGateway } from '../../world/gateway.ts';
import { rawIdOf } from '../../world/http.ts';
import type { TestDatabase } from '../../world/postgres.ts';

type Body = Record<string, unknown>;

describe('account settings', () => {
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
  const good = async <T = Body>(...words: string[]): Promise<T> => {
    const { code, err, json } = await run<T>(...words, '--json');
    expect(code, err).to.equal(0);
    return json;
  };
  const refused = async (message: string, ...words: string[]) => {
    const { code, out, err } = await run(...words);
    const said = err.split('\n').filter((line) => !line.startsWith('{'));
    expect([code, out, said]).to.deep.equal([2, '', [`quita: ${message}`, '']]);
  };
  const settingsOf = async (...words: string[]) => {
    const { accountId, settings } = await good<{ accountId: string; settings: Body }>('account', 'settings', ...words);
    return { accountId, settings };
  };
  it('settings shows all settings and changes the named ones, once', async () => {
    const { accountId, settings } = await settingsOf(account);
    expect(accountId).to.equal(account);
    expect(settings).to.deep.include({ chargeWindowSeconds: 3_600, rateLimitPerMinute: null, cashoutDestinations: [] });
    const all = [account, '--velocity-customer', '5', '--rate-limit', '1200', '--hold-days', 'PIX=1, BOLETO=3'];
    const more = [
      '--cashout-destinations',
      '99991111140,loja@example.com',
      '--charge-window',
      '600',
      '--refund-count',
      '10',
    ];
    const changed = {
      ...settings,
      velocity: { customerPerHour: 5, accountPerHour: 1_000 },
      rateLimitPerMinute: 1_200,
      holdDays: { ...(settings['holdDays'] as Body), PIX: 1, BOLETO: 3 },
      cashoutDestinations: ['99991111140', 'loja@example.com'],
      chargeWindowSeconds: 600,
      refundVelocity: { countPerHour: 10, sumPerHour: null },
    };
    expect((await settingsOf(...all, ...more)).settings).to.deep.equal(changed);
    const head = await gateway.storage.store.head();
    expect((await settingsOf(...all, ...more)).settings).to.deep.equal(changed);
    expect(await gateway.storage.store.head()).to.equal(head);
    const { out } = await run('account', 'settings', rawIdOf(account));
    expect(out).to.contain('velocity              5 per hour and customer, 1000 per hour in total\n');
    expect(out).to.contain('refunds               10 per hour, any number of minor units in total\n');
    expect(out).to.contain('rate limit            1200 per minute\n');
    expect(out).to.contain('hold days             PIX=1 CREDIT_CARD=2 MBWAY=1 MULTIBANCO=1 BOLETO=3 CRYPTO=1\n');

    const { body } = await gateway.charge(); // a new charge uses the settings
    const { created_at: from, pix } = body as { created_at: string; pix: { expires_at: string } };
    expect(Date.parse(pix.expires_at) - Date.parse(from)).to.equal(600_000);

    const back = ['--rate-limit', 'default', '--cashout-destinations', 'none', '--hold-days', 'PIX=0,BOLETO=1'];
    const usual = [
      '--charge-window',
      '3600',
      '--velocity-customer',
      '20',
      '--velocity-account',
      '1000',
      '--refund-count',
      'any',
    ];
    expect((await settingsOf(account, ...back, ...usual)).settings).to.deep.equal(settings);
    expect((await settingsOf(account, '--rate-limit', 'none')).settings).to.include({ rateLimitPerMinute: 0 });
    const any = await settingsOf(account, '--rate-limit', 'default', '--cashout-destinations', 'any');
    expect(any.settings).to.deep.equal({ ...settings, cashoutDestinations: null });
  });

  it('settings changes fees by method and side, names and the tax ID, and new payments use them', async () => {
    const { settings } = await settingsOf(account);
    const fees = settings['fees'] as Record<string, { provider: Body; platform: Body }>;
    const all = [account, '--fees', 'PIX=/150+20, BOLETO=0+199/', '--name', 'Padaria São João'];
    const more = ['--tax-id', '12.ABC.345/01DE-35', '--receiver-name', 'Padaria São João', '--receiver-city', 'Recife'];
    const changed = {
      ...settings,
      fees: {
        ...fees,
        PIX: { ...fees['PIX'], platform: { percentBps: 150, fixed: 20 } },
        BOLETO: { ...fees['BOLETO'], provider: { percentBps: 0, fixed: 199 } },
      },
      merchantName: 'Padaria São João',
      taxId: '12ABC34501DE35',
      receiverName: 'Padaria São João',
      receiverCity: 'Recife',
    };
    expect((await settingsOf(...all, ...more)).settings).to.deep.equal(changed);
    const { out } = await run('account', 'settings', account);
    expect(out).to.contain('name                  Padaria São João\ntax id                12ABC34501DE35\n');
    expect(out).to.contain('receiver              Padaria São João, Recife\n');
    expect(out).to.contain('fees                  PIX=0+10/150+20 CREDIT_CARD=');

    const { body } = await gateway.charge({ amount: 10_000 });
    const brCode = parseBrCode((body['pix'] as { br_code: string }).br_code);
    expect(brCode.ok && brCode.brCode).to.include({ merchantName: 'Padaria Sao Joao', merchantCity: 'Recife' });
    const page = await (await fetch(body['checkout_url'] as string)).text();
    expect(page).to.contain('para <b>Padaria São João</b>');
    await gateway.post(`/v1/sandbox/charges/${body['id']}/pay`, {});
    const { body: paid } = await gateway.get<Body>(`/v1/payments/${rawIdOf(body['id'] as string)}`);
    expect(paid).to.include({ providerFee: 10, platformFee: 170, netAmount: 9_820 }); // M1
    const { body: receipt } = await gateway.get<{ base64: string }>(`/v1/payments/${paid['id']}/receipt`);
    expect(pdfText(Buffer.from(receipt.base64, 'base64'))).to.include.members([
      'Padaria São João',
      '12.ABC.345/01DE-35',
    ]);

    const back = ['--fees', 'PIX=0+10/100+0,BOLETO=150+0/100+0', '--tax-id', 'none', '--receiver-city', 'SAO PAULO'];
    const names = ['--name', 'Loja de Teste', '--receiver-name', 'Loja de Teste'];
    expect((await settingsOf(account, ...back, ...names)).settings).to.deep.equal(settings);
  });

  const between = (option: string, [min, max]: readonly [number, number], text: string) =>
    `--${option} must be a whole number from ${min} to ${max}, not "${text}"`;
  const { customerPerHour, accountPerHour, holdDays, chargeWindowSeconds, feeBps, feeFixed } = SETTING_BOUNDS;
  const METHODS = 'PIX, CREDIT_CARD, MBWAY, MULTIBANCO, BOLETO, CRYPTO';
  const WRONG: readonly (readonly [string, string, string])[] = [
    ['velocity-customer', '0', between('velocity-customer', customerPerHour, '0')],
    ['velocity-account', '1000001', between('velocity-account', accountPerHour, '1000001')],
    ['rate-limit', '0', between('rate-limit', [1, 1_000_000_000], '0')],
    ['rate-limit', '1.5', between('rate-limit', [1, 1_000_000_000], '1.5')],
    ['hold-days', 'PIX=366', between('hold-days', holdDays, '366')],
    ['hold-days', 'PIX', between('hold-days', holdDays, '')],
    ['hold-days', 'TED=1', `--hold-days must be like PIX=0,BOLETO=2, with ${METHODS}, not "TED=1"`],
    ['fees', 'PIX=1', '--fees must be like PIX=0+10/100+0, not "1"'],
    ['fees', 'PIX=1/2', '--fees must be like PIX=0+10/100+0, not "1"'],
    ['fees', 'PIX=1+2/3+4/5+6', '--fees must be like PIX=0+10/100+0, not "1+2/3+4/5+6"'],
    ['fees', 'PIX=10001+0/', between('fees', feeBps, '10001')],
    ['fees', 'PIX=/0+10000001', between('fees', feeFixed, '10000001')],
    ['fees', 'TED=0+0/0+0', `--fees must be like PIX=0+10/100+0, with ${METHODS}, not "TED=0+0/0+0"`],
    ['tax-id', '99.991.111/0001-07', '--tax-id must be a valid CPF or CNPJ'],
    ['name', '', '--name must be one line of 1 to 200 characters without leading or trailing spaces'],
    [
      'receiver-city',
      'São José do Rio Preto',
      '--receiver-city must have 1 to 15 characters after accents and other non-ASCII characters are removed',
    ],
    ['refund-count', '1000001', between('refund-count', [0, 1_000_000], '1000001')],
    ['refund-sum', 'x', between('refund-sum', [0, 99_999_999_999], 'x')],
    ['charge-window', '59', between('charge-window', chargeWindowSeconds, '59')],
    ['charge-window', '', between('charge-window', chargeWindowSeconds, '')],
    ['charge-window', 'constructor', between('charge-window', chargeWindowSeconds, 'constructor')],
    [
      ...(['cashout-destinations', 'constructor'] as const),
      '--cashout-destinations must be Pix keys as the directory holds them, not "constructor"',
    ],
    ['cashout-destinations', 'x', '--cashout-destinations must be Pix keys as the directory holds them, not "x"'],
  ];
  it('create rejects a name that the settings would reject', async () => {
    const said = '--name must be one line of 1 to 200 characters without leading or trailing spaces';
    await refused(said, 'account', 'create', '--name', 'Loja\nde Teste', '--email', 'nobody@example.com');
  });
  it('settings rejects values out of bounds and unknown accounts', async () => {
    const before = await settingsOf(account);
    for (const [option, value, message] of WRONG)
      await refused(message, 'account', 'settings', account, '--velocity-account', '7', `--${option}=${value}`);
    expect(await settingsOf(account)).to.deep.equal(before);
    await refused('There is no such account.', 'account', 'settings', 'acct_00000000000000000000000000');
    await refused('"x" is not an account id (acct_…)', 'account', 'settings', 'x');
  });
});

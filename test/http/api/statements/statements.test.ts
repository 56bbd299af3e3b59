// Monthly statements over HTTP: months in account time, formats, rejections, and agreement with the wallet.
import { expect } from 'chai';
import { statementMonth } from '../../../../domain/presentation/statement.ts';
import { pdfPages, pdfText } from '../../../support/pdfText.ts';
import type { TestGateway, TestTenant } from '../../../world/gateway.ts';
import { expectError, openReady } from '../../../world/http.ts';
import type { Merchant } from '../../../world/merchant.ts';
import { PayoutDesk } from '../../../world/payoutDesk.ts';

const NOVEMBER = statementMonth('2026-11')!;
/** Noon in UTC on 15 November. */
const NOON = Date.UTC(2026, 10, 15, 12);
const DAY_SECONDS = 86_400;

interface Balance {
  readonly available: number;
  readonly pending: number;
  readonly retained: number;
}

describe('monthly statements', () => {
  let gateway: TestGateway;
  let desk: PayoutDesk;
  let merchant: Merchant & { readonly tenant: TestTenant };
  before(async () => {
    gateway = await openReady({ clock: { now: () => NOON } });
    desk = await PayoutDesk.open(gateway, { available: 20_000, auto: true });
    ({ merchant } = desk);
    const { id } = await merchant.charge({ amount: 5_000 });
    await merchant.pay(id);
    await desk.post(`/v1/sandbox/charges/${id}/med`, {});
    await desk.payout({ amount: 3_000 });
  });
  after(async () => {
    expect(gateway.faults).to.deep.equal([]);
    await gateway.close();
  });
  const as = () => ({ key: merchant.key });
  const ask = (path: string) => gateway.get(`/v1/statements/${path}`, as());
  const rows = async (month: string, currency = 'BRL') => {
    const { status, text } = await ask(`${month}?format=csv&currency=${currency}`);
    expect(status, text).to.equal(200);
    return text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(','));
  };
  /** Returns the three balances of a row. */
  const balances = (row: readonly string[] = []): Balance => {
    const [available, pending, retained] = row.slice(11, 14).map(Number);
    return { available: available!, pending: pending!, retained: retained! };
  };
  const wallet = async (): Promise<Balance> => {
    const { available, pending, retained } = (await gateway.get<Balance>('/v1/wallets/balance', as())).body;
    return { available, pending, retained };
  };

  it('open at zero and close with the wallet’s balance', async () => {
    const all = await rows('2026-11');
    const types = all.map(([, , type]) => type);
    expect([types[0], types.at(-1)]).to.deep.equal(['opening', 'provisional']);
    // The clock is stopped, so movements of different streams have no order in time.
    expect(types.slice(1, -1).sort()).to.deep.equal(['dispute_hold', 'payment', 'payment', 'payout']);
    expect(balances(all[0])).to.deep.equal({ available: 0, pending: 0, retained: 0 });
    expect(balances(all.at(-1))).to.deep.equal(await wallet());
    expect(await wallet()).to.deep.equal({ available: 16_890, pending: 0, retained: 5_000 });
  });

  it('are final after the month has ended; the next one opens with the closing balance', async () => {
    const provisional = await ask('2026-11?format=csv');
    expect(provisional.headers.get('content-disposition')).to.equal(
      'attachment; filename="quita-test-2026-11-BRL-provisional.csv"',
    );
    expectError(await ask('2026-12'), 400, 'invalid_filter', 'month');
    await merchant.advance(20 * DAY_SECONDS);
    const december = await rows('2026-12');
    expect(december.map(([, , type]) => type)).to.deep.equal(['opening', 'provisional']);
    const november = await rows('2026-11');
    expect(november.at(-1)?.[2]).to.equal('closing');
    expect(balances(december[0])).to.deep.equal(balances(november.at(-1)));
    expect(balances(december.at(-1))).to.deep.equal(await wallet());
    expect((await ask('2026-11?format=csv')).headers.get('content-disposition')).to.equal(
      'attachment; filename="quita-test-2026-11-BRL.csv"',
    );
  });

  it('show nothing of other modes, accounts and currencies', async () => {
    const live = await gateway.get(`/v1/statements/2026-11?format=csv`, { key: merchant.tenant.liveKey });
    const other = await gateway.get(`/v1/statements/2026-11?format=csv`);
    const euros = await ask('2026-11?format=csv&currency=EUR');
    for (const { status, text } of [live, other, euros]) {
      expect(status, text).to.equal(200);
      const lines = text.trimEnd().split('\r\n').slice(1);
      expect(lines.map((line) => balances(line.split(',')))).to.deep.equal(
        Array(2).fill({ available: 0, pending: 0, retained: 0 }),
      );
    }
  });

  it('are PDFs by default, with the balances of the month', async () => {
    const { headers } = await ask('2026-11');
    expect(headers.get('content-type')).to.equal('application/pdf');
    expect(headers.get('content-disposition')).to.equal('attachment; filename="quita-test-2026-11-BRL.pdf"');
    const response = await fetch(`${gateway.baseUrl}/v1/statements/2026-11?format=pdf`, {
      headers: { apikey: merchant.key },
    });
    const pdf = Buffer.from(await response.arrayBuffer());
    expect(pdfPages(pdf)).to.equal(3);
    const text = pdfText(pdf);
    expect(text).to.include.members([
      'Extrato de novembro de 2026',
      'R$ 218,90',
      'Saldo total no fim do mês',
      'AMBIENTE DE TESTE',
    ]);
    const from = (words: string, count: number) => text.slice(text.indexOf(words), text.indexOf(words) + count);
    expect(from('Saldo final', 5)).to.deep.equal(['Saldo final', 'R$ 168,90', 'R$ 0,00', 'R$ 50,00', 'R$ 218,90']);
    expect(from('Bloqueio por contestação', 8)).to.deep.equal([
      ...['Bloqueio por contestação', '1', 'R$ 0,00', 'R$ 0,00', '-R$ 50,00', 'R$ 0,00', 'R$ 50,00', 'R$ 0,00'],
    ]);
  });

  it('are marked as provisional in every format', async () => {
    expect((await rows('2026-12')).at(-1)?.[2]).to.equal('provisional');
    expect((await ask('2026-12?format=ofx')).text).to.include('<MESSAGE>Provisional');
    const response = await fetch(`${gateway.baseUrl}/v1/statements/2026-12`, { headers: { apikey: merchant.key } });
    expect(pdfText(Buffer.from(await response.arrayBuffer())).join('\n')).to.match(/Provisório: o mês não terminou/);
  });

  it('are available as OFX with the closing balance', async () => {
    const { status, headers, text } = await ask('2026-11?format=ofx');
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/x-ofx']);
    expect(/<LEDGERBAL>\s*<BALAMT>(.*?)</.exec(text)?.[1]).to.equal('218.90');
    expect(/<AVAILBAL>\s*<BALAMT>(.*?)</.exec(text)?.[1]).to.equal('168.90');
  });

  for (const [path, code, param] of [
    ['2027-01', 'invalid_filter', 'month'],
    ['2026-13', 'invalid_filter', 'month'],
    ['november', 'invalid_filter', 'month'],
    ['2026-11?format=xls', 'invalid_filter', 'format'],
    ['2026-11?curency=EUR', 'invalid_filter', 'curency'],
    ['2026-11?currency=real', 'invalid_currency', 'currency'],
    ['2026-11?currency=USDT&format=ofx', 'invalid_currency', 'currency'],
  ] as const)
    it(`reject ${path} with ${code}`, async () => {
      expectError(await ask(path), 400, code, param);
    });

  it('are limited to two at a time; a third one gets 429', async () => {
    const tenant = { accountId: merchant.tenant.accountId, mode: 'test' } as const;
    const { openStatement } = gateway.gateway.services;
    const [first, second] = [
      await openStatement(tenant, NOVEMBER, 'BRL'),
      await openStatement(tenant, NOVEMBER, 'BRL'),
    ];
    const refused = await ask('2026-11?format=csv');
    expectError(refused, 429, 'rate_limited');
    expect(refused.headers.get('retry-after')).to.equal('5');
    for (const one of [first, second]) if ('close' in one) one.close();
    expect((await ask('2026-11?format=csv')).status).to.equal(200);
  });
});

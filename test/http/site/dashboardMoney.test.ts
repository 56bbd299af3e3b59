// The dashboard’s pages for disputes, payouts and statements, in a browser without scripts.
import { expect } from 'chai';
import { addMillis } from '../../../domain/kernel/time.ts';
import { leftText } from '../../../http/site/dashboard/format.ts';
import { lastMonths } from '../../../http/site/dashboard/statements.ts';
import { EN } from '../../../http/site/dashboard/texts/en.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { cookieOf, ownForm } from '../../world/browser.ts';
import { newKey, type TestGateway, type TestUser } from '../../world/gateway.ts';
import { openReady } from '../../world/http.ts';
import { openedCase, paidCharge } from '../examples/caseExamples.ts';

const HTML = { accept: 'text/html', 'accept-language': 'en' };
const AT = '/dashboard/test';

describe('the dashboard’s money pages', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  before(async () => {
    gateway = await openReady();
    owner = await gateway.addUser('OWNER');
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));

  const show = async (path: string, user = owner) => {
    const headers = { ...HTML, ...cookieOf(await gateway.logIn('OWNER', user)) };
    return gateway.call<unknown>('GET', AT + path, { key: null, headers });
  };
  const send = async (path: string, fields: Readonly<Record<string, string>>, user = owner) => {
    const bearer = await gateway.logIn('OWNER', user);
    const headers = { ...HTML, ...cookieOf(bearer) };
    return gateway.call<unknown>('POST', AT + path, { key: null, ...ownForm(bearer, fields), headers });
  };
  const placeOf = (reply: { readonly headers: Headers }): string => reply.headers.get('location') ?? '';

  describe('disputes', () => {
    const opened = async (report: object = {}): Promise<string> =>
      (await openedCase(gateway, report)).caseId.slice('med_'.length);
    const statusOf = async (raw: string): Promise<string> =>
      (await gateway.get<{ status: string }>(`/v1/med/cases/med_${raw}`)).body.status;

    it('are listed by deadline, nearest first, with the time left', async () => {
      const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000 + 60_000).toISOString();
      const late = await opened({ response_deadline: inDays(5) });
      const never = await opened({ response_deadline: null });
      const soon = await opened({ response_deadline: inDays(2), reason: '<b>never arrived</b>' });
      const { text } = await show('/disputes');
      const urgent = text.slice(text.indexOf(EN.disputes.toAnswer), text.indexOf(EN.disputes.all));
      const order = [...urgent.matchAll(/disputes\/([0-9a-z]{26})"/g)].map(([, id]) => id as string);
      expect(order.filter((id) => [late, never, soon].includes(id))).to.deep.equal([soon, late, never]);
      expect(urgent).to.include('in 2 days').and.include('in 5 days').and.include(EN.disputes.noDeadline);
      expect(text).to.include('&lt;b&gt;never arrived').and.not.include('<b>never');
      expect((await show('/disputes?status=accepted')).text).to.include(EN.disputes.emptyFiltered);
    });
    it('are accepted by managers only, with a confirmation, and finally', async () => {
      const raw = await opened();
      const at = `/disputes/${raw}`;
      expect((await show(at)).text).to.include('This is final');
      const unsure = await send(`${at}/accept`, {});
      expect([unsure.status, unsure.text.includes(EN.disputes.notConfirmed)]).to.deep.equal([422, true]);
      const member = await gateway.addUser('MEMBER');
      expect((await send(`${at}/accept`, { confirm: 'yes' }, member)).status).to.equal(403);
      expect(await statusOf(raw)).to.equal('open');
      expect((await show(at, member)).text)
        .to.include(EN.disputes.onlyManagers)
        .and.not.include(`${at}/accept`);
      expect(placeOf(await send(`${at}/accept`, { confirm: 'yes' }))).to.equal(`${AT}${at}?done=accepted`);
      expect(await statusOf(raw)).to.equal('accepted');
      expect((await send(`${at}/appeal`, { reason: 'Too late now' })).status).to.equal(422);
      expect((await show(at)).text).to.include(EN.disputes.cannotAnswer);
    });
    it('are appealed with a reason, which the form keeps if it is invalid', async () => {
      const raw = await opened();
      const short = await send(`/disputes/${raw}/appeal`, { reason: '<i>' });
      expect(short.status).to.equal(422);
      expect(short.text).to.include(EN.disputes.badReason).and.include('>&lt;i&gt;</textarea>');
      const reason = 'It was delivered, see the receipt.';
      expect((await send(`/disputes/${raw}/appeal`, { reason })).status).to.equal(303);
      expect(await statusOf(raw)).to.equal('appealed');
      expect((await show(`/disputes/${raw}`)).text)
        .to.include(EN.disputes.stepAppealed)
        .and.include(reason);
    });
    it('are opened from the payment and decided, in test mode', async () => {
      const charge = (await paidCharge(gateway)).slice('ch_'.length);
      expect((await show(`/payments/${charge}`)).text).to.include(`${charge}/dispute`);
      const place = placeOf(await send(`/payments/${charge}/dispute`, {}));
      expect(place).to.match(/\/disputes\/[0-9a-z]{26}\?done=disputed$/);
      const raw = /disputes\/(\w+)/.exec(place)?.[1] as string;
      expect((await show(`/payments/${charge}`)).text).to.include(`/disputes/${raw}`);
      expect((await send(`/payments/${charge}/dispute`, {})).status).to.equal(422);
      expect(placeOf(await send(`/disputes/${raw}/decide`, { as: 'disagreed' }))).to.match(/done=decided$/);
      expect((await show(`/disputes/${raw}`)).text).to.include(EN.moneyOutcomes.refunded_to_merchant);
    });
  });

  describe('payouts', () => {
    const form = { destination: 'ANA@example.com', amount: '0,50', key: 'one-and-the-same' };
    const count = async (): Promise<number> =>
      (await gateway.get<{ data: unknown[] }>('/v1/payouts?limit=100')).body.data.length;
    const available = async (): Promise<number> =>
      (await gateway.get<{ available: number }>('/v1/wallets/balance')).body.available;

    it('are requested after a preview without effects, and only once per form', async () => {
      await paidCharge(gateway);
      const [before, money] = [await count(), await available()];
      const preview = await send('/payouts/new', form);
      expect([preview.status, await count(), await available()]).to.deep.equal([200, before, money]);
      expect(preview.text).to.include('ana@example.com').and.include(EN.payouts.rest);
      const [first, second] = [
        await send('/payouts/new', { ...form, step: 'confirm' }),
        await send('/payouts/new', { ...form, step: 'confirm' }),
      ];
      expect(placeOf(first)).to.match(/\/payouts\/[0-9a-z]{26}\?done=requested$/);
      expect([placeOf(second), await count()]).to.deep.equal([placeOf(first), before + 1]);
      const raw = /payouts\/(\w+)/.exec(placeOf(first))?.[1];
      const { amount, fee } = (await gateway.get<{ amount: number; fee: number }>(`/v1/payouts/po_${raw}`)).body;
      expect(amount).to.equal(50);
      expect(preview.text).to.include(
        `<dd>R$ ${((money - amount - fee) / 100).toLocaleString('en', { minimumFractionDigits: 2 })}</dd>`,
      );
    });
    it('are shown again with the problem', async () => {
      for (const [fields, problem] of [
        [{ ...form, amount: 'much' }, EN.create.badAmount],
        [{ ...form, destination: 'x"><b>' }, EN.payouts.badDestination],
        [{ ...form, amount: '9.999.999,00' }, EN.payouts.insufficient],
      ] as const) {
        const reply = await send('/payouts/new', fields);
        expect([reply.status, reply.text.includes(problem)], problem).to.deep.equal([422, true]);
        expect(reply.text).to.not.include('"><b>');
      }
      const key = newKey();
      const confirmed = await send('/payouts/new', { ...form, amount: '9.999.999,00', key, step: 'confirm' });
      expect(confirmed.status).to.equal(422);
    });
    it('must be approved by a manager other than the requester', async () => {
      await paidCharge(gateway);
      await gateway.post('/v1/sandbox/settings', { auto_confirm_payouts: false, payout_approval_above: 1 });
      const request = async (): Promise<string> => {
        const fields = { ...form, amount: '0,02', key: newKey() };
        expect((await send('/payouts/new', fields)).text).to.include(EN.payouts.willWait);
        const place = placeOf(await send('/payouts/new', { ...fields, step: 'confirm' }));
        return (/payouts\/(\w+)/.exec(place) as RegExpExecArray)[1] as string;
      };
      const [one, two, three] = [await request(), await request(), await request()];
      const own = await send(`/payouts/${one}/approve`, {});
      expect([own.status, own.text.includes('Someone else must review it.')]).to.deep.equal([422, true]);
      const admin = await gateway.addUser('ADMIN');
      expect(placeOf(await send(`/payouts/${one}/approve`, {}, admin))).to.match(/done=approved$/);
      expect(placeOf(await send(`/payouts/${two}/reject`, { reason: 'no' }, admin))).to.match(/done=rejected$/);
      expect((await show(`/payouts/${two}`)).text).to.include(EN.payouts.notApproved);
      expect(placeOf(await send(`/payouts/${three}/cancel`, {}))).to.match(/done=payoutCancelled$/);
      expect((await send(`/payouts/${two}/cancel`, {})).status).to.equal(422);
      const list = await show('/payouts?status=cancelled');
      expect(list.text).to.include(three).and.not.include(one);
      const member = await gateway.addUser('MEMBER');
      for (const path of ['/payouts/new', `/payouts/${one}/cancel`, `/payouts/${one}/approve`])
        expect((await send(path, form, member)).status, path).to.equal(403);
    });
  });

  describe('statements', () => {
    it('add up by day from the opening to the closing balance, which equals the wallet’s', async () => {
      await paidCharge(gateway);
      const { text } = await show('/wallet');
      const table = text.slice(text.indexOf('<tbody>', text.indexOf(EN.wallet.byDay)));
      const rows = table.slice(0, table.indexOf('</tbody>')).split('</tr>').slice(0, -1);
      const centavos = (cell: string): number => Number(cell.replaceAll(/[^\d-]/g, ''));
      const cells = rows.map((row) =>
        [...row.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => centavos(cell as string)),
      );
      const [opening, ...rest] = cells as number[][];
      const closing = rest.pop() as number[];
      const sum = (column: number): number =>
        rest.reduce((total, day) => total + (day[column] as number), opening?.[column] as number);
      expect(rest.length).to.be.above(0);
      expect([sum(1), sum(2), sum(3)]).to.deep.equal(closing.slice(1, 4));
      expect(closing[4]).to.equal(sum(1) + sum(2) + sum(3));
      let before = opening?.[4];
      for (const [start = 0, available = 0, pending = 0, retained = 0, end] of rest) {
        expect([start, start + available + pending + retained]).to.deep.equal([before, end]);
        before = end;
      }
      const wallet = (await gateway.get<{ available: number; pending: number }>('/v1/wallets/balance')).body;
      expect(closing.slice(1, 3)).to.deep.equal([wallet.available, wallet.pending]);
    });
    it('are downloads of the last twelve months, equal to the API’s', async () => {
      const month = lastMonths(new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10))[0] as string;
      for (const format of ['csv', 'ofx']) {
        const page = await show(`/statements/${month}?format=${format}&currency=BRL`);
        const api = await gateway.call<unknown>('GET', `/v1/statements/${month}?format=${format}`);
        expect(page.status).to.equal(200);
        expect(page.headers.get('content-disposition')).to.equal(api.headers.get('content-disposition'));
        const lines = (text: string): readonly string[] =>
          text.split('\n').filter((line) => !/DTSERVER|DTASOF|DTEND|,provisional,/.test(line));
        expect(lines(page.text)).to.deep.equal(lines(api.text));
      }
      expect((await show(`/statements/${month}`)).headers.get('content-type')).to.equal('application/pdf');
      expect((await show('/statements/2026-13')).status).to.equal(400);
      expect((await show('/wallet')).text).to.include(`/statements/${month}?format=pdf`);
    });
    it('go back across the turn of a year', () => {
      const months = lastMonths('2026-03-31');
      expect([months.length, months[0], months[2], months[3], months.at(-1)]).to.deep.equal([
        ...[12, '2026-03', '2026-01', '2025-12', '2025-04'],
      ]);
    });
  });

  it('shows the time left in whole days, hours or minutes, and null once it has passed', () => {
    const now = parseTimestamp('2026-11-28T12:00:00.000Z');
    const left = (ms: number) => leftText(addMillis(now, ms), now, 'en');
    const HOUR = 3_600_000;
    expect([72, 71, 48, 47, 2, 1.99, 0, -0.001].map((hours) => left(Math.round(hours * HOUR)))).to.deep.equal([
      ...['in 3 days', 'in 2 days', 'in 2 days', 'in 47 hours', 'in 2 hours', 'in 119 minutes', 'in 0 minutes', null],
    ]);
  });
});

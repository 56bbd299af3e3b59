import { expect } from 'chai';
import { parseTimestamp } from '../../support/timestamp.ts';
import { CODE, DUE, openCheckout as open, RAW_ID, START, Stream } from './checkoutBrowser.ts';
import { OTHERS } from './checkoutView.ts';

const message = (status: string, now = START, expires_at: string | null = DUE) => ({ status, expires_at, now });

describe('checkout script', () => {
  it('counts down by the account’s clock', () => {
    const page = open();
    expect(page.find('clock').textContent).to.equal('30:00');
    page.pass(1);
    expect(page.find('clock').textContent).to.equal('29:59');
  });

  const remaining: [string, string][] = [
    ['2026-11-21T13:00:00.001Z', '00:01'],
    ['2026-11-21T13:00:59.000Z', '00:59'],
    ['2026-11-21T13:59:59.000Z', '59:59'],
    ['2026-11-21T14:00:00.000Z', '1:00:00'],
    ['2026-11-22T12:59:59.000Z', '23:59:59'],
    ['2026-11-23T14:02:03.000Z', '2d 01:02:03'],
  ];
  for (const [expiresAt, text] of remaining) {
    it(`shows ${text} until ${expiresAt}`, () => expect(open({ expiresAt }).find('clock').textContent).to.equal(text));
  }

  it('marks the last minute', () => {
    const page = open({ expiresAt: '2026-11-21T13:01:00.000Z' });
    expect(page.body.attributes.has('data-urgent')).to.equal(false);
    page.pass(1);
    expect(page.body.attributes.has('data-urgent')).to.equal(true);
  });

  it('hides the code at the due time, and shows it again if the due time moves', () => {
    const page = open();
    page.pass(1_799);
    expect([page.state(), page.find('pay').hidden]).to.deep.equal(['pending', false]);
    page.pass(1);
    expect([page.state(), page.find('pay').hidden]).to.deep.equal(['verifying', true]);
    page.say(message('pending', DUE, '2026-11-21T14:00:00.000Z'));
    expect([page.state(), page.find('pay').hidden]).to.deep.equal(['pending', false]);
  });

  it('follows a test clock that is moved forward', () => {
    const page = open();
    page.say(message('pending', '2026-11-21T13:29:00.000Z'));
    expect(page.find('clock').textContent).to.equal('01:00');
    page.say(message('pending', DUE));
    expect(page.state()).to.equal('verifying');
  });

  it('keeps verifying on a page that was loaded without a code after the due time', () => {
    const page = open({ now: DUE });
    page.say(message('pending', '2026-11-21T13:29:59.990Z'));
    expect(page.state()).to.equal('verifying');
  });

  it('has no due time while there is no way to pay', () => {
    const page = open({ brCode: null });
    page.pass(100_000);
    expect(page.state()).to.equal('preparing');
  });

  const finals = {
    paid: 'Pagamento confirmado',
    failed: 'Pagamento não concluído',
    expired: 'Cobrança expirada',
    cancelled: 'Cobrança cancelada',
    refunded: 'Pagamento devolvido',
    disputed: 'Pagamento em disputa',
  };
  for (const [status, heading] of Object.entries(finals)) {
    it(`shows a final status from the stream at once and stops: ${status}`, () => {
      const page = open();
      expect(Stream.all.map((stream) => stream.url)).to.deep.equal([`/pay/${RAW_ID}/events`]);
      page.say(message(status));
      expect([page.state(), page.find('panel').querySelector('h2')!.textContent]).to.deep.equal([status, heading]);
      expect(page.root.title).to.equal(`${heading} · R$ 1,00`);
      expect([page.find('pay').removed, page.ticking()]).to.deep.equal([true, false]);
      expect(Stream.all.map((stream) => stream.readyState)).to.deep.equal([Stream.CLOSED]);
    });
  }

  it('ignores messages after a final status', () => {
    const page = open();
    page.say(message('paid'));
    page.say(message('paid'));
    page.say(message('pending'));
    page.root.listeners.get('visibilitychange')!({});
    expect([page.state(), Stream.all.length, page.answers.length]).to.deep.equal(['paid', 1, 0]);
  });

  it('keeps watching while a payment is processing', () => {
    const page = open();
    page.say(message('processing'));
    expect([page.state(), page.find('pay').hidden, page.ticking()]).to.deep.equal(['processing', true, true]);
    page.say(message('paid'));
    expect(page.state()).to.equal('paid');
  });

  it('ignores an unknown status', () => {
    const page = open();
    page.say(message('"]'));
    page.say(message('settled'));
    expect([page.state(), page.ticking()]).to.deep.equal(['pending', true]);
  });

  it('moves the focus to the new text if it was on a removed element', () => {
    const page = open();
    page.root.activeElement = page.find('copy');
    page.say(message('paid'));
    expect(page.find('panel').focused).to.equal(true);
  });

  it('polls every second while the stream is down, one request at a time', async () => {
    const page = open();
    Stream.all[0]!.readyState = Stream.CONNECTING;
    page.pass(3);
    expect(page.answers.map(({ url }) => url)).to.deep.equal([`/pay/${RAW_ID}/status`]);
    await page.answers[0]!.answer(message('pending'));
    page.pass(1);
    expect(page.answers).to.have.length(2);
    await page.answers[1]!.answer(message('paid'));
    expect([page.state(), page.ticking()]).to.deep.equal(['paid', false]);
  });

  it('polls if it gets no stream because too many are open', async () => {
    const page = open();
    Stream.all[0]!.readyState = Stream.CLOSED;
    for (let i = 0; i < 3; i++) {
      page.pass(1);
      await page.answers[i]!.answer(message('pending'));
    }
    page.pass(1);
    await page.answers[3]!.answer(message('paid'));
    expect([page.state(), page.ticking(), Stream.all.length]).to.deep.equal(['paid', false, 1]);
  });

  it('obeys Retry-After of a 429 without showing the offline notice', async () => {
    const page = open();
    Stream.all[0]!.readyState = Stream.CONNECTING;
    for (const round of [1, 2]) {
      page.pass(1);
      await page.answers[round - 1]!.answer({}, 429, '30');
      expect(page.find('offline').hidden).to.equal(true);
      page.pass(29);
      page.window.listeners.get('online')!({});
      expect(page.answers).to.have.length(round);
    }
    page.pass(1);
    await page.answers[2]!.answer({}, 503);
    expect(page.find('offline').hidden).to.equal(false);
    page.pass(1);
    await page.answers[3]!.answer(message('paid'));
    expect([page.state(), page.find('offline').hidden]).to.deep.equal(['paid', true]);
  });

  it('doesn’t poll while the stream sends messages', () => {
    const page = open();
    for (let round = 0; round < 10; round++) {
      page.pass(15);
      page.say(message('pending'));
    }
    expect(page.answers).to.have.length(0);
  });

  it('polls when an open stream has been silent for more than 15 seconds', () => {
    const page = open();
    page.pass(15);
    expect(page.answers).to.have.length(0);
    page.pass(1);
    expect(page.answers).to.have.length(1);
  });

  it('reopens a stream that the browser has closed', () => {
    const page = open();
    Stream.all[0]!.readyState = Stream.CLOSED;
    page.pass(5);
    expect(Stream.all).to.have.length(1);
    page.pass(1);
    expect(Stream.all.map((stream) => stream.readyState)).to.deep.equal([Stream.CLOSED, Stream.OPEN]);
  });

  it('discards an answer that is older than the stream’s last message', async () => {
    const page = open();
    Stream.all[0]!.readyState = Stream.CONNECTING;
    page.pass(1);
    page.say(message('processing'));
    await page.answers[0]!.answer(message('pending'));
    expect(page.state()).to.equal('processing');
  });

  it('shows when there is no connection, and when it is back', async () => {
    const page = open();
    Stream.all[0]!.readyState = Stream.CONNECTING;
    page.pass(1);
    await page.answers[0]!.answer(null);
    expect(page.find('offline').hidden).to.equal(false);
    page.pass(1);
    await page.answers[1]!.answer(message('pending'));
    expect(page.find('offline').hidden).to.equal(true);
  });

  it('polls at once when the payer returns from the banking app', async () => {
    for (const [target, type, event] of [
      ['root', 'visibilitychange', {}],
      ['window', 'pageshow', { persisted: true }],
      ['window', 'online', {}],
    ] as const) {
      const page = open();
      page[target].listeners.get(type)!(event);
      expect([type, Stream.all.length, page.answers.length]).to.deep.equal([type, 2, 1]);
      await page.answers[0]!.answer(message('paid'));
      expect(page.state()).to.equal('paid');
    }
  });

  it('does nothing when the page is hidden or shown for the first time', () => {
    const page = open();
    page.window.listeners.get('pageshow')!({ persisted: false });
    page.root.visibilityState = 'hidden';
    page.root.listeners.get('visibilitychange')!({});
    expect([Stream.all.length, page.answers.length]).to.deep.equal([1, 0]);
  });

  it('copies the code and confirms it for four seconds', async () => {
    const page = open();
    await page.find('copy').listeners.get('click')!({});
    expect(page.clipboard.text).to.equal(CODE);
    expect([page.find('note').textContent, page.find('copy').attributes.has('data-copied')]).to.deep.equal([
      'done',
      true,
    ]);
    expect(page.timeouts.map(({ milliseconds }) => milliseconds)).to.deep.equal([4_000]);
    page.timeouts[0]!.run();
    expect([page.find('note').textContent, page.find('copy').attributes.has('data-copied')]).to.deep.equal(['', false]);
  });

  it('replaces the panel’s text once, with one that announces updates', () => {
    const page = open();
    expect(page.find('panel').querySelector('h2')!.textContent).to.equal('Aguardando pagamento');
    expect(page.find('panel').querySelector('p')!.textContent).to.equal('Esta página avisa assim que o Pix chegar.');
    page.pass(10);
    expect(page.find('panel').entered).to.equal(1);
  });

  // Calendar days in Brasília, where midnight is 03:00 UTC.
  const days: [now: string, due: string, text: string][] = [
    ['2026-11-21T13:00:00.000Z', '2026-11-24T13:00:00.000Z', 'Vence em 3 dias'],
    ['2026-11-22T02:59:59.000Z', '2026-11-24T13:00:00.000Z', 'Vence em 3 dias'],
    ['2026-11-22T03:00:00.000Z', '2026-11-24T13:00:00.000Z', 'Vence em 2 dias'],
    ['2026-11-23T03:00:00.000Z', '2026-11-24T13:00:00.000Z', 'Vence amanhã'],
    ['2026-11-24T02:59:59.000Z', '2026-11-24T03:00:00.000Z', 'Vence amanhã'],
    ['2026-11-24T03:00:00.000Z', '2026-11-24T13:00:00.000Z', 'Vence hoje'],
    ['2026-12-31T15:00:00.000Z', '2027-01-02T15:00:00.000Z', 'Vence em 2 dias'],
  ];
  for (const [now, due, text] of days)
    it(`says "${text}" for a boleto due ${due} at ${now}`, () => {
      const page = open({ brCode: null, now, others: [{ ...OTHERS.boleto, expiresAt: parseTimestamp(due) }] });
      expect(page.all('clock').map(({ textContent }) => textContent)).to.deep.equal([text]);
    });

  it('marks the note as wrong when copying fails, until it succeeds', async () => {
    const page = open();
    page.clipboard.allowed = false;
    await page.find('copy').listeners.get('click')!({});
    expect(page.find('note').attributes.has('data-wrong')).to.equal(true);
    page.clipboard.allowed = true;
    await page.find('copy').listeners.get('click')!({});
    expect([page.find('note').textContent, page.find('note').attributes.has('data-wrong')]).to.deep.equal([
      'done',
      false,
    ]);
  });

  it('selects the code if the clipboard is not available', async () => {
    const page = open();
    page.clipboard.allowed = false;
    await page.find('copy').listeners.get('click')!({});
    expect(page.selection).to.deep.equal([page.find('code')]);
    expect([page.find('note').textContent, page.find('copy').attributes.has('data-copied')]).to.deep.equal([
      'failed',
      false,
    ]);
  });

  it('watches a charge without Pix code', () => {
    const page = open({ brCode: null });
    page.pass(1);
    expect(page.state()).to.equal('preparing');
    page.say(message('paid'));
    expect([page.state(), page.reloads()]).to.deep.equal(['paid', 0]);
  });

  it('reloads the page once there is a way to pay, not before', () => {
    const page = open({ brCode: null });
    page.say(message('pending', START, null));
    expect([page.state(), page.reloads()]).to.deep.equal(['preparing', 0]);
    page.say(message('pending'));
    expect(page.reloads()).to.equal(1);
  });

  it('never reloads a page that shows a code', () => {
    const page = open();
    page.say(message('pending', START, '2026-11-21T14:00:00.000Z'));
    expect([page.state(), page.reloads()]).to.deep.equal(['pending', 0]);
  });

  it('counts down each method to its due time, and ends with the last', () => {
    const page = open({ others: [OTHERS.boleto] });
    page.say(message('pending', START, OTHERS.boleto.expiresAt));
    const shown = () => page.all('clock').map(({ textContent }) => textContent);
    const over = () =>
      page.all('clock').map((clock) => clock.closest('[data-method]')?.attributes.has('data-over') ?? null);
    expect(shown()).to.deep.equal(['30:00', 'Vence em 3 dias']);
    page.pass(1_799);
    expect([shown(), over()]).to.deep.equal([
      ['00:01', 'Vence em 3 dias'],
      [false, false],
    ]);
    page.pass(1);
    expect([page.state(), over()]).to.deep.equal(['pending', [true, false]]);
    page.say(message('pending', OTHERS.boleto.expiresAt, OTHERS.boleto.expiresAt));
    expect([page.state(), page.find('pay').hidden, over()]).to.deep.equal(['verifying', true, [true, true]]);
  });

  it('copies the text next to each button, digits without separators', async () => {
    const page = open({ others: [OTHERS.boleto, OTHERS.crypto] });
    const copied: string[] = [];
    for (const button of page.all('copy')) {
      await button.listeners.get('click')!({});
      copied.push(page.clipboard.text);
    }
    expect(copied).to.deep.equal([CODE, OTHERS.boleto.line, OTHERS.crypto.amount, OTHERS.crypto.address]);
    expect(page.all('note').map(({ textContent }) => textContent)).to.deep.equal(['done', 'done', 'done', 'done']);
  });
});

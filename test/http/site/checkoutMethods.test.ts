// The payer’s page for payments with methods other than Pix, or with several methods (rules I8, I8a, P3).
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { AcquirerInstrument } from '../../../domain/charge/instruments.ts';
import { checkoutAsset } from '../../../http/site/checkout/assets.ts';
import { renderCheckout } from '../../../http/site/checkout/renderCheckout.ts';
import { parseTimestamp } from '../../support/timestamp.ts';
import { type CheckoutChanges, checkoutViewOf, OTHERS, CHECKOUT_RAW_ID as RAW_ID } from './checkoutView.ts';

const run = promisify(execFile);
const RENDERER = '../../../http/site/checkout/renderCheckout.ts';
const PIX_CODE = '00020126';
const pageOf = (changes: CheckoutChanges): string => renderCheckout(checkoutViewOf(changes));
/** Renders the page of a payment without Pix. */
const pageWith = (others: readonly AcquirerInstrument[], changes: CheckoutChanges = {}): string =>
  pageOf({ amount: 12345, brCode: null, others, ...changes });
const shown = (page: string): string => page.replace(/<template .*?<\/template>/gs, '');
const stateOf = (page: string): string | undefined => /<body data-state="(.*?)"/.exec(page)?.[1];
const headingOf = (page: string): string | undefined => /<h1>(.*?)<\/h1>/.exec(page)?.[1];
const textOf = (page: string): string =>
  shown(page)
    .replace(/^.*<main>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
const textIn = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
/** Returns the texts that can be copied: plain digits, however they are displayed. */
const copies = (page: string): string[] =>
  [...page.matchAll(/data-code(?:="(.*?)")?>(.*?)</g)].map(([, copied, text]) => copied || text!);
const dues = (page: string): (string | null)[] =>
  [...page.matchAll(/ data-clock(?:="(.*?)")?>/g)].map(([, due]) => due ?? null);
/** Returns each method’s name, whether it is unfolded and whether its due time has passed. */
const folds = (page: string): [name: string, open: boolean, over: boolean][] =>
  [...page.matchAll(/<details (.*?)><summary><h2>(.*?)<\/h2>/g)].map(([, attributes, name]) => [
    name!,
    / open$/.test(attributes!),
    attributes!.includes('data-over'),
  ]);

const DUE = OTHERS.boleto.expiresAt;
const SOON = OTHERS.card.expiresAt;

describe('checkout page with one other method', () => {
  const cases: {
    method: keyof typeof OTHERS;
    currency: string;
    heading: string;
    says: string[];
    copies: string[];
    links: string[];
  }[] = [
    {
      method: 'boleto',
      currency: 'BRL',
      heading: 'Pagamento com boleto',
      says: ['00190.50095 40144.816069 06809.350314 3 37370000000100', 'Abrir boleto em PDF', 'Vence em 24/11/2026'],
      copies: [OTHERS.boleto.line],
      links: [`/pay/${RAW_ID}/public/boleto.pdf`],
    },
    {
      method: 'multibanco',
      currency: 'EUR',
      heading: 'Pagamento com Multibanco',
      says: ['Entidade 21800', 'Referência 123 456 789', 'Valor € 123,45'],
      copies: [],
      links: [],
    },
    {
      method: 'mbWay',
      currency: 'EUR',
      heading: 'Pagamento com MB WAY',
      says: ['Abra o app MB WAY no celular com final 678 , confira o valor de € 123,45'],
      copies: [],
      links: [],
    },
    {
      method: 'crypto',
      currency: 'BTC',
      heading: 'Pagamento com criptomoeda',
      says: ['Moeda BTC', 'Rede BITCOIN', 'Valor exato 0,00012345 BTC', `Endereço ${OTHERS.crypto.address}`],
      copies: [OTHERS.crypto.amount, OTHERS.crypto.address],
      links: [],
    },
    {
      method: 'card',
      currency: 'BRL',
      heading: 'Pagamento com cartão de crédito',
      says: ['Pagar com cartão'],
      copies: [],
      links: [OTHERS.card.redirectUrl],
    },
  ];
  for (const { method, currency, heading, says, copies: copied, links } of cases) {
    it(`shows everything needed to pay: ${method}`, () => {
      const instrument = OTHERS[method];
      const page = pageWith([instrument], { currency });
      expect([stateOf(page), headingOf(page)]).to.deep.equal(['pending', heading]);
      for (const text of says) expect(textOf(page)).to.include(text);
      expect(copies(page)).to.deep.equal(copied);
      expect([...shown(page).matchAll(/<a [^>]*href="(.*?)"/g)].map((match) => match[1])).to.deep.equal(links);
      expect(dues(page)).to.deep.equal([instrument.expiresAt]);
      expect(page).to.include(`data-expires-at="${instrument.expiresAt}"`);
      expect(shown(page).replace(/data:|qr\.png/g, '')).to.not.match(/\bPix\b/);
    });

    it(`removes the method at its due time and when the payment ends: ${method}`, () => {
      const instrument = OTHERS[method];
      const over = pageWith([instrument], { currency, now: instrument.expiresAt });
      expect([stateOf(over), over.includes('data-pay')]).to.deep.equal(['verifying', false]);
      const paid = pageWith([instrument], { currency, status: 'paid' });
      expect([stateOf(paid), paid.includes('data-pay'), paid.includes('<script')]).to.deep.equal([
        'paid',
        false,
        false,
      ]);
      for (const page of [over, paid]) expect(copies(page)).to.deep.equal([]);
    });
  }

  it('shows the address of a crypto payment as a QR code', () => {
    const page = shown(pageWith([OTHERS.crypto], { currency: 'BTC' }));
    expect([...page.matchAll(/<img src="(.*?)"/g)].map((match) => match[1])).to.deep.equal([
      `/pay/${RAW_ID}/crypto.png`,
    ]);
    expect(page).to.include('alt="QR Code do endereço para receber BTC"');
  });

  it('counts days for a boleto only', () => {
    expect(pageWith([OTHERS.boleto])).to.include(`data-days data-clock="${OTHERS.boleto.expiresAt}"`);
    for (const other of [OTHERS.multibanco, OTHERS.card])
      expect(pageWith([other], { currency: 'EUR' })).to.not.include('data-days');
  });

  it('doesn’t show the full phone number', () => {
    expect(pageWith([OTHERS.mbWay], { currency: 'EUR' })).to.not.include(OTHERS.mbWay.phone.slice(0, -3));
  });

  it('doesn’t mention Pix in states that apply to all methods', () => {
    expect(pageWith([OTHERS.boleto])).to.not.match(/\bPix\b/);
    expect(pageWith([OTHERS.boleto], { status: 'expired' })).to.include('Peça uma nova cobrança à loja.');
  });

  it('escapes all texts', () => {
    const hostile = `"><script>alert('x')</script>`;
    const crypto = { ...OTHERS.crypto, address: hostile, amount: hostile, network: hostile, currency: hostile };
    const card = { ...OTHERS.card, redirectUrl: hostile };
    const multibanco = { ...OTHERS.multibanco, entity: hostile, mbReference: hostile };
    const page = pageWith([crypto, card, multibanco, { ...OTHERS.boleto, pdfUrl: hostile }]);
    expect(page.match(/<script/g)).to.have.length(1);
    expect(page.match(/&quot;&gt;&lt;script&gt;alert\(&#39;x&#39;\)&lt;\/script&gt;/g)).to.have.length(13);
  });
});

describe('checkout page with several methods', () => {
  const several = { brCode: PIX_CODE, others: [OTHERS.boleto, OTHERS.card] };

  it('unfolds the first method, shows each due time and expires with the last', () => {
    const page = pageOf(several);
    expect([stateOf(page), headingOf(page)]).to.deep.equal(['pending', 'Pagamento']);
    expect(folds(page)).to.deep.equal([
      ['Pix', true, false],
      ['Boleto', false, false],
      ['Cartão de crédito', false, false],
    ]);
    expect(dues(page)).to.deep.equal(['2026-11-21T13:30:00.000Z', DUE, SOON]);
    expect(page).to.include(`data-expires-at="${DUE}"`);
    expect(copies(page)).to.deep.equal([PIX_CODE, OTHERS.boleto.line]);
    expect(page).to.include(`<img src="/pay/${RAW_ID}/qr.png"`);
  });

  it('shows each method’s deadline in its summary, readable while folded', () => {
    const page = pageOf(several);
    const summaries = [...page.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, inside]) => textIn(inside!));
    expect(summaries).to.deep.equal([
      'Pix Pague até 21/11/2026, 10:30',
      'Boleto Vence em 24/11/2026',
      'Cartão de crédito Pague até 21/11/2026, 10:30',
    ]);
    expect(page.match(/Pague até|Vence em/g)).to.have.length(3);
    expect(textOf(page)).to.include('Cada forma de pagamento tem o seu prazo, no horário de Brasília.');
    expect(page.match(/<time /g)).to.have.length(3);
  });

  it('shows no deadline of a method past its due time', () => {
    const page = pageOf({ ...several, now: '2026-11-21T13:30:00.000Z' });
    expect(page.match(/Pague até|Vence em/g)).to.deep.equal(['Vence em']);
  });

  it('opens one method at a time without a script, by a shared name', () => {
    expect(pageOf(several).match(/<details class="method" name="method"/g)).to.have.length(3);
  });

  it('closes each method at its due time and opens the next', () => {
    const before = pageOf({ ...several, now: '2026-11-21T13:29:59.999Z' });
    expect(folds(before).map(([, , over]) => over)).to.deep.equal([false, false, false]);
    const after = pageOf({ ...several, now: '2026-11-21T13:30:00.000Z' });
    expect([stateOf(after), folds(after)]).to.deep.equal([
      'pending',
      [
        ['Pix', false, true],
        ['Boleto', true, false],
        ['Cartão de crédito', false, true],
      ],
    ]);
    expect(copies(after)).to.deep.equal([OTHERS.boleto.line]);
    expect([after.includes('qr.png'), after.includes(OTHERS.card.redirectUrl)]).to.deep.equal([false, false]);
    expect(after).to.include('O prazo para pagar com este método terminou.');
  });

  it('verifies the payment once the last method is past its due time', () => {
    expect(stateOf(pageOf({ ...several, now: DUE }))).to.equal('verifying');
  });

  it('expires with Pix if Pix is the last', () => {
    const page = pageOf({ ...several, expiresAt: parseTimestamp('2026-12-01T00:00:00.000Z') });
    expect(page).to.include('data-expires-at="2026-12-01T00:00:00.000Z"');
  });

  it('is the same page whatever the time zone and language of the server’s process', async () => {
    const view = JSON.stringify(checkoutViewOf(several));
    const program = `import { renderCheckout } from ${JSON.stringify(import.meta.resolve(RENDERER))};
      process.stdout.write(renderCheckout(${view}));`;
    const env = { ...process.env, TZ: 'Asia/Tokyo', LC_ALL: 'en_US.UTF-8' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { env });
    expect(stdout).to.equal(pageOf(several));
  });

  it('obeys the content security policy and stays below 30 kB with style and script', () => {
    const page = pageOf({ ...several, others: Object.values(OTHERS) });
    expect(page).to.not.match(/<style|<script(?![^>]* src="\/pay\/assets\/)|<form|<base|<iframe/i);
    expect(page).to.not.match(/\s(style|on[a-z]+|href="javascript:[^"]*)\s*=/i);
    const files = ['checkout.css', 'methods.css', 'preferences.css', 'checkout.js'];
    const bytes = files.reduce((sum, name) => sum + checkoutAsset(name)!.body.length, Buffer.byteLength(page));
    expect(bytes).to.be.below(30_000);
  });
});

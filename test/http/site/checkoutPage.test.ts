import { expect } from 'chai';
import fc from 'fast-check';
import { AMOUNT_MAX } from '../../../domain/kernel/money.ts';
import { checkoutAsset, checkoutAssetUrl } from '../../../http/site/checkout/assets.ts';
import { checkoutContentSecurityPolicy } from '../../../http/site/checkout/contentSecurityPolicy.ts';
import { renderCheckout, renderCheckoutNotFound } from '../../../http/site/checkout/renderCheckout.ts';
import type { CheckoutStatus } from '../../../http/site/checkout/states.ts';
import { escapeHtml } from '../../../http/site/html.ts';
import { type CheckoutChanges, checkoutViewOf, OTHERS, CHECKOUT_RAW_ID as RAW_ID } from './checkoutView.ts';

const BR_CODE =
  '00020101021226850014br.gov.bcb.pix2563pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25abcdefgh' +
  '5204000053039865406123.455802BR5912Loja Exemplo6009SAO PAULO62070503***6304ABCD';

const pageOf = (changes: CheckoutChanges = {}): string =>
  renderCheckout(checkoutViewOf({ amount: 12345, brCode: BR_CODE, ...changes }));

/** Returns what a person sees: the page without the templates for the script. */
const shown = (page: string): string => page.replace(/<template .*?<\/template>/gs, '');
const headingOf = (page: string): string | undefined => /<h2>(.*?)<\/h2>/.exec(shown(page))?.[1];
const stateOf = (page: string): string | undefined => /<body data-state="(.*?)"/.exec(page)?.[1];
const watches = (page: string): boolean => page.includes('/pay/assets/checkout.js') && page.includes('data-live=');

describe('checkout page', () => {
  it('shows amount, QR image, code, due time and steps of a pending charge, in Portuguese', () => {
    const page = shown(pageOf());
    expect(page).to.match(/^<!doctype html>\n<html lang="pt-BR">/);
    expect(page).to.include('<p class="amount">R$ 123,45</p>');
    expect(page).to.include(
      `<img src="/pay/${RAW_ID}/qr.png" width="240" height="240" alt="QR Code Pix para pagar R$ 123,45">`,
    );
    expect(page).to.include(`<code class="code" translate="no" data-code>${BR_CODE}</code>`);
    expect(page).to.include('Copiar código');
    expect(page).to.include('role="timer" data-clock');
    expect(page).to.include(
      'Pague até <time datetime="2026-11-21T13:30:00.000Z">21/11/2026, 10:30</time> (horário de Brasília)',
    );
    expect(page.match(/<li>/g)).to.have.length(3);
    expect(page).to.include('<title>Aguardando pagamento · R$ 123,45</title>');
    expect(page).to.include(
      '<noscript><p class="note">Para ver se o pagamento foi confirmado, recarregue esta página.</p></noscript>',
    );
  });

  it('shows the receiver’s name and the description', () => {
    const page = pageOf({ description: 'Pedido 1001 <duas canecas>' });
    expect(page).to.include('<p class="receiver">para <b>Padaria São João</b></p>');
    expect(page).to.include('<p class="description">Pedido 1001 &lt;duas canecas&gt;</p>');
    expect(pageOf()).to.not.include('class="description"');
  });

  for (const lock of ['CPF', 'CNPJ'] as const)
    it(`says that only the holder of the ${lock} may pay, while Pix can be paid`, () => {
      const text = `Só o titular do ${lock} informado à loja pode pagar. Um Pix de outra pessoa é devolvido.`;
      expect(shown(pageOf({ payerLock: lock }))).to.include(text);
      expect(pageOf({ payerLock: lock, others: [OTHERS.boleto] })).to.include(text);
      for (const changes of [{}, { payerLock: lock, status: 'paid' } as const, { payerLock: lock, brCode: null }])
        expect(pageOf(changes)).to.not.include('Só o titular');
    });

  it('announces no automatic updates without a script', () => {
    const promises = /avisa assim que|aparece(m)? aqui/;
    for (const changes of [{}, { others: [OTHERS.boleto] }, { brCode: null }, { status: 'processing' } as const]) {
      const page = pageOf(changes);
      expect(shown(page)).to.not.match(promises);
      expect(page).to.match(promises); // These texts are in the templates for the script.
    }
  });

  const linksOf = (page: string): string[] => [...page.matchAll(/<a [^>]*href="(.*?)"/g)].map((match) => match[1]!);
  const shop = 'https://loja.example/pedido?n=1&ok';
  const back = 'https://loja.example/pedido?n=1&amp;ok';
  for (const status of ['failed', 'expired', 'cancelled', 'refunded', 'disputed'] as const)
    it(`links back to the shop when ${status} if a return URL is known`, () => {
      expect(linksOf(pageOf({ status, returnUrl: shop }))).to.deep.equal([back]);
      expect(linksOf(pageOf({ status }))).to.deep.equal([]);
    });
  it('links to the receipt and the shop when paid', () => {
    const receipt = `/pay/${RAW_ID}/receipt.pdf`;
    expect(linksOf(pageOf({ status: 'paid', returnUrl: shop }))).to.deep.equal([receipt, back]);
  });
  it('has no links while payable, but its templates for final states have', () => {
    for (const status of ['pending', 'processing'] as const) {
      const page = pageOf({ status, returnUrl: shop });
      expect(linksOf(shown(page))).to.deep.equal([]);
      const paid = /<template data-for="paid">(.*?)<\/template>/s.exec(page)![1]!;
      expect(linksOf(paid)).to.deep.equal([`/pay/${RAW_ID}/receipt.pdf`, back]);
    }
  });
  it('shows how much of a paid charge was refunded', () => {
    const page = pageOf({ status: 'paid', refunded: 500 });
    expect(headingOf(page)).to.equal('Pagamento confirmado e devolvido parcialmente');
    expect(page).to.include('Foram devolvidos R$ 5,00 de R$ 123,45.');
    expect(page).to.include('<title>Pagamento confirmado e devolvido parcialmente · R$ 123,45</title>');
    expect(headingOf(pageOf({ status: 'disputed', refunded: 500 }))).to.equal('Pagamento em disputa');
  });

  it('gives the script the account’s time, the due time and the address', () => {
    expect(pageOf()).to.include(
      `<body data-state="pending" data-live="pending" data-base="/pay/${RAW_ID}" data-now="2026-11-21T13:00:00.000Z" data-expires-at="2026-11-21T13:30:00.000Z">`,
    );
    expect(pageOf({ brCode: null })).to.include('data-expires-at="">');
  });

  const headings: [CheckoutStatus, string, boolean][] = [
    ['pending', 'Aguardando pagamento', true],
    ['processing', 'Pagamento em análise', true],
    ['paid', 'Pagamento confirmado', false],
    ['failed', 'Pagamento não concluído', false],
    ['expired', 'Cobrança expirada', false],
    ['cancelled', 'Cobrança cancelada', false],
    ['refunded', 'Pagamento devolvido', false],
    ['disputed', 'Pagamento em disputa', false],
  ];
  for (const [status, heading, live] of headings) {
    it(`says "${heading}" when ${status} and ${live ? 'goes on watching' : 'watches no more'}`, () => {
      const page = pageOf({ status });
      expect([stateOf(page), headingOf(page), watches(page)]).to.deep.equal([status, heading, live]);
      expect(page.includes('<template')).to.equal(live);
      expect(page.includes('/pay/assets/checkout.js')).to.equal(live);
      expect(page).to.include('R$ 123,45');
    });

    if (status !== 'pending') {
      it(`contains neither QR image nor code when ${status}`, () => {
        const page = pageOf({ status });
        expect([page.includes('qr.png'), page.includes(BR_CODE), page.includes('data-pay')]).to.deep.equal([
          false,
          false,
          false,
        ]);
      });
    }
  }

  it('has a template for every state that can follow', () => {
    const states = [...pageOf().matchAll(/<template data-for="(.*?)">/g)].map((match) => match[1]);
    expect(states.toSorted()).to.deep.equal(
      [...headings.map(([status]) => status), 'preparing', 'verifying'].toSorted(),
    );
  });

  it('removes the code at the due time, before the status changes', () => {
    const before = pageOf({ now: '2026-11-21T13:29:59.999Z' });
    const at = pageOf({ now: '2026-11-21T13:30:00.000Z' });
    expect([stateOf(before), headingOf(before), before.includes(BR_CODE)]).to.deep.equal([
      'pending',
      'Aguardando pagamento',
      true,
    ]);
    expect([stateOf(at), headingOf(at), at.includes(BR_CODE)]).to.deep.equal(['verifying', 'O prazo terminou', false]);
    expect(watches(at)).to.equal(true);
  });

  it('says that it is preparing while there is no way to pay, and keeps watching', () => {
    const page = pageOf({ brCode: null });
    expect([stateOf(page), headingOf(page), watches(page)]).to.deep.equal([
      'preparing',
      'Preparando o pagamento',
      true,
    ]);
    expect(['data-clock', 'Pague até', 'qr.png', 'data-pay'].filter((part) => page.includes(part))).to.deep.equal([]);
    expect(page).to.include('<h1>Pagamento</h1>');
  });

  it('shows a test badge in test mode only', () => {
    expect(pageOf()).to.include('<span class="badge">Ambiente de teste</span>');
    expect(pageOf({ testMode: false })).to.not.include('Ambiente de teste');
  });

  it('escapes all texts', () => {
    const hostile = `"><script>alert('x')</script>&amp;\ud800`;
    const page = pageOf({ rawId: hostile, brCode: hostile, currency: hostile });
    const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;\ud800';
    expect(page).to.include(`data-code>${escaped}</code>`);
    expect(page).to.include(`<span class="id">${escaped}</span>`);
    expect(page).to.include(`<p class="amount long">${escaped} 123,45</p>`);
    const inUrl = '/pay/%22%3E%3Cscript%3Ealert(&#39;x&#39;)%3C%2Fscript%3E%26amp%3B%EF%BF%BD';
    expect(page).to.include(`data-base="${inUrl}"`).and.to.include(`<img src="${inUrl}/qr.png"`);
    expect(page.match(/<script/g)).to.have.length(1);
  });

  it('keeps any text inside its element', () => {
    const text = fc.string({
      unit: fc.constantFrom('<', '>', '"', "'", '&', ';', '/', 'a', ' ', '$', '`', '\u0000', '\ud800'),
    });
    fc.assert(
      fc.property(text, (part) => {
        const page = pageOf({ rawId: part, brCode: part });
        expect(page.split(/[<>"]/).length).to.equal(pageOf({ rawId: '', brCode: '' }).split(/[<>"]/).length);
        expect(page).to.include(`data-code>${escapeHtml(part)}</code>`);
      }),
    );
  });

  it('stays below 22 kB with style and script, for the longest code', () => {
    const page = pageOf({ brCode: BR_CODE.padEnd(512, '0'), amount: AMOUNT_MAX });
    const files = ['checkout.css', 'preferences.css', 'checkout.js'].map((name) => checkoutAsset(name)!.body.length);
    expect(Buffer.byteLength(page) + files.reduce((sum, bytes) => sum + bytes)).to.be.below(22_000);
  });
});

describe('every page for payers', () => {
  const statuses: CheckoutStatus[] = [
    'pending',
    'processing',
    'paid',
    'failed',
    'expired',
    'cancelled',
    'refunded',
    'disputed',
  ];
  const pages = [
    ...statuses.map((status) => [status, pageOf({ status })] as const),
    ['404', renderCheckoutNotFound()] as const,
  ];
  for (const [name, page] of pages) {
    it(`obeys the content security policy: ${name}`, () => {
      expect(page).to.not.match(/<style|<script(?![^>]* src="\/pay\/assets\/)|<form|<base|<iframe/i);
      expect(page).to.not.match(/\s(style|on[a-z]+|href="javascript:[^"]*)\s*=/i);
      expect(page.replace(BR_CODE, '')).to.not.match(/https?:|"\/\/|url\(/i);
    });

    it(`references only existing files: ${name}`, () => {
      const urls = [...page.matchAll(/(?:href|src)="(\/pay\/assets\/[^"]*)"/g)].map((match) => match[1]!);
      expect(urls).to.include(checkoutAssetUrl('checkout.css'));
      for (const url of urls) {
        const [, file, version] = /^\/pay\/assets\/(.*)\?v=(.*)$/.exec(url)!;
        expect(checkoutAsset(file!)?.version).to.equal(version);
      }
    });

    it(`is not indexed and sends no referrer: ${name}`, () => {
      expect(page).to.include('<meta name="robots" content="noindex">');
      expect(page).to.include('<meta name="referrer" content="no-referrer">');
    });

    it(`has exactly one first-level heading: ${name}`, () => expect(page.match(/<h1>/g)).to.have.length(1));
  }

  it('has a policy that allows own files only', () => {
    expect(checkoutContentSecurityPolicy).to.equal(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it('uses files without external references', () => {
    for (const name of ['checkout.css', 'methods.css', 'preferences.css', 'checkout.js', 'favicon.svg']) {
      const text = checkoutAsset(name)!.body.toString().replace('xmlns="http://www.w3.org/2000/svg"', '');
      expect(text, name).to.not.match(/https?:|url\(|@import|eval\(|new Function|innerHTML|\.style\b/);
    }
  });

  it('serves its files with their content types, and no others', () => {
    expect(
      ['checkout.css', 'methods.css', 'preferences.css', 'checkout.js', 'favicon.svg'].map(
        (name) => checkoutAsset(name)?.contentType,
      ),
    ).to.deep.equal([
      'text/css; charset=utf-8',
      'text/css; charset=utf-8',
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
      'image/svg+xml',
    ]);
    for (const name of ['states.ts', '', '../qrPng.ts', 'constructor', '__proto__'])
      expect(checkoutAsset(name)).to.equal(null);
  });

  it('explains a 404 without a script', () => {
    const page = renderCheckoutNotFound();
    expect(page).to.include('<h1>Cobrança não encontrada</h1>').and.to.include('<html lang="pt-BR">');
    expect(page.includes('<script')).to.equal(false);
  });
});

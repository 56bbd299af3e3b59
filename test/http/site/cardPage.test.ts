// The sandbox page behind `cardRedirectUrl` (rule P3).
import { expect } from 'chai';
import { renderCardPage } from '../../../http/site/checkout/renderCheckout.ts';
import { type CheckoutChanges, checkoutViewOf, OTHERS, CHECKOUT_RAW_ID as RAW_ID } from './checkoutView.ts';

const { card, boleto } = OTHERS;
const pageOf = (changes: CheckoutChanges = {}, returnUrl: string | null = null): string =>
  renderCardPage({
    ...checkoutViewOf({ amount: 12345, brCode: null, others: [card], returnUrl, ...changes }),
    card,
  });
const shown = (page: string): string => page.replace(/<template .*?<\/template>/gs, '');
const stateOf = (page: string): string | undefined => /<body data-state="(.*?)"/.exec(page)?.[1];
const links = (page: string): string[] => [...page.matchAll(/<a [^>]*href="(.*?)"/g)].map((match) => match[1]!);
/** Link in the template of a paid page. */
const RECEIPT = `/pay/${RAW_ID}/receipt.pdf`;
const NOTICE = 'Nada é cobrado aqui.';

describe('card page of the sandbox', () => {
  it('shows the amount, says that nothing is charged and how the merchant settles the payment', () => {
    const page = pageOf();
    expect(page).to.match(/^<!doctype html>\n<html lang="pt-BR">/);
    expect(page).to.include('<h1>Pagamento com cartão de crédito</h1>').and.to.include('R$ 123,45');
    expect(page).to.include(NOTICE).and.to.include('<span class="badge">Ambiente de teste</span>');
    expect(page).to.include(`POST /v1/sandbox/payments/tx_${RAW_ID}/authorize</code>`);
    expect(page).to.include(`POST /v1/sandbox/payments/tx_${RAW_ID}/refuse</code>`);
  });

  it('has no form fields', () =>
    expect(pageOf({}, 'https://loja.example/')).to.not.match(/<input|<form|<textarea|<select/i));

  it('watches the payment’s status', () => {
    const page = pageOf();
    expect(page).to.include(`data-live="pending" data-base="/pay/${RAW_ID}"`).and.to.include('/pay/assets/checkout.js');
    expect(page).to.include(`data-clock="${card.expiresAt}"`);
  });

  it('links back to the shop in every status', () => {
    const url = 'https://loja.example/volta?pedido=1&ok="';
    for (const status of ['pending', 'processing', 'paid', 'failed', 'expired'] as const)
      expect(links(shown(pageOf({ status }, url)))).to.deep.equal([
        ...(status === 'paid' ? [RECEIPT] : []),
        'https://loja.example/volta?pedido=1&amp;ok=&quot;',
      ]);
    expect(links(shown(pageOf()))).to.deep.equal([]);
  });

  it('links to the other methods while they can be paid', () => {
    expect(links(shown(pageOf({ others: [card, boleto] })))).to.deep.equal([`/pay/${RAW_ID}`]);
    expect(links(shown(pageOf({ brCode: '00020126' })))).to.deep.equal([`/pay/${RAW_ID}`]);
    expect(links(pageOf({ others: [card, boleto], status: 'paid' }))).to.deep.equal([RECEIPT]);
  });

  it('no longer explains how to settle after settlement or the due time', () => {
    const paid = pageOf({ status: 'paid' });
    expect([stateOf(paid), paid.includes(NOTICE), paid.includes('<script')]).to.deep.equal(['paid', false, false]);
    const over = pageOf({ now: card.expiresAt });
    expect([stateOf(over), over.includes(NOTICE)]).to.deep.equal(['verifying', false]);
    const others = pageOf({ now: card.expiresAt, others: [card, boleto] });
    expect([stateOf(others), others.includes(NOTICE), links(shown(others))]).to.deep.equal([
      'pending',
      false,
      [`/pay/${RAW_ID}`],
    ]);
    expect(others).to.include('O prazo para pagar com este método terminou.');
  });
});

// The instructions of each payment method (rules I8, P3).
import type { AcquirerInstrument, Instruments } from '../../../domain/charge/instruments.ts';
import type { PaymentMethod } from '../../../domain/charge/methods.ts';
import { formatCoins } from '../../../domain/presentation/amount.ts';
import { formatBoletoLine } from '../boletoLine.ts';
import { html, type Markup } from '../html.ts';
import { ICON } from '../icons.ts';
import { METHOD_NAME } from '../methodNames.ts';
import { copyBlock } from './copying.ts';
import { countdown, deadline, ownDueLine } from './due.ts';
import { pixPayment } from './pixSection.ts';
import type { CheckoutView } from './view.ts';

const facts = (rows: readonly (readonly [label: string, value: string])[]): Markup =>
  html`<dl>${rows.map(([label, value]) => html`<div><dt>${label}</dt><dd translate="no">${value}</dd></div>`)}</dl>
`;

const inThrees = (digits: string): string => digits.replace(/\d{3}(?=\d)/g, '$& ');

/** Shows the last three digits: enough to recognize one's own phone on a page that anyone with the link can see (I7). */
const maskedPhone = (phone: string): string => `celular com final ${phone.slice(-3)}`;

/** `base` is the page's path, `amount` the formatted amount. */
const otherPayment = (instrument: AcquirerInstrument, base: string, amount: string): Markup => {
  switch (instrument.method) {
    case 'BOLETO':
      return html`${copyBlock({
        label: 'Linha digitável',
        shown: formatBoletoLine(instrument.line),
        copied: instrument.line,
        button: 'Copiar linha digitável',
        done: 'Linha copiada. Agora cole no app do seu banco.',
      })}<a class="button second" href="${base}/public/boleto.pdf" target="_blank">${ICON.file}Abrir boleto em PDF</a>
<p class="hint">Depois de pago, o boleto pode levar até um dia útil para ser confirmado.</p>
`;
    case 'CREDIT_CARD':
      return html`<p class="hint">Você preenche os dados do cartão em uma página segura.</p>
<a class="button" href="${instrument.redirectUrl}">${ICON.card}Pagar com cartão</a>
`;
    case 'MBWAY':
      return html`<p class="hint">Abra o app MB WAY no <b>${maskedPhone(instrument.phone)}</b>, confira o valor de <b>${amount}</b> e confirme o pagamento.</p>
`;
    case 'MULTIBANCO':
      return html`${facts([
        ['Entidade', instrument.entity],
        ['Referência', inThrees(instrument.mbReference)],
        ['Valor', amount],
      ])}<p class="hint">No caixa Multibanco ou no app do seu banco, escolha Pagamento de serviços e informe estes dados.</p>
`;
    case 'CRYPTO':
      return html`${facts([
        ['Moeda', instrument.currency],
        ['Rede', instrument.network],
      ])}${copyBlock({
        label: 'Valor exato',
        shown: `${formatCoins(instrument.amount, 'pt')} ${instrument.currency}`,
        copied: instrument.amount,
        button: 'Copiar valor',
        done: 'Valor copiado.',
      })}<div class="scan"><img src="${base}/crypto.png" width="240" height="240" alt="QR Code do endereço para receber ${instrument.currency}"></div>
${copyBlock({
  label: 'Endereço',
  shown: instrument.address,
  copied: instrument.address,
  button: 'Copiar endereço',
  done: 'Endereço copiado.',
})}<p class="hint">Envie somente ${instrument.currency} pela rede ${instrument.network}. O que for enviado por outra rede pode se perder.</p>
`;
  }
};

interface MethodBlock {
  readonly method: PaymentMethod;
  /** ISO instants of the account's clock. */
  readonly expiresAt: string;
  readonly now: string;
  readonly body: Markup;
}

const OVER = html`<p class="over">O prazo para pagar com este método terminou.</p>`;

const isPayable = ({ expiresAt, now }: MethodBlock): boolean => Date.parse(expiresAt) > Date.parse(now);

/** Returns the attributes and content of one method: its instructions, or a notice if its deadline has passed. */
const blockParts = (block: MethodBlock): readonly [attributes: Markup, inside: Markup] =>
  isPayable(block)
    ? [html` data-method`, html`<div class="body">${block.body}</div>${OVER}`]
    : [html` data-method data-over`, OVER];

/** A single method, always open. */
export const soleMethod = (block: MethodBlock): Markup => {
  const [attributes, inside] = blockParts(block);
  return html`<div class="method sole"${attributes}>${inside}</div>\n`;
};

/** One of several methods. Only one is open at a time, even without scripts. */
const foldedMethod = (block: MethodBlock, isOpen: boolean): Markup => {
  const [attributes, inside] = blockParts(block);
  return html`<details class="method" name="method"${attributes}${isOpen ? html` open` : null}><summary><h2>${METHOD_NAME[block.method]}</h2>${isPayable(block) ? deadline(block.method, block.expiresAt) : null}</summary>
${inside}</details>
`;
};

/**
 * The methods of a payment that accepts others than Pix, each with its own due time. `base` is the page's path, `amount` the formatted
 * amount.
 */
export const methodsSection = (
  { pix, acquirerInstruments }: Instruments,
  page: Pick<CheckoutView, 'now' | 'payerLock'> & {
    readonly base: string;
    readonly amount: string;
  },
): Markup => {
  const { base, amount, now, payerLock } = page;
  const isSole = pix === null && acquirerInstruments.length === 1;
  const dueOf = isSole ? ownDueLine : countdown;
  const pixBlock: readonly MethodBlock[] = pix
    ? [
        {
          method: 'PIX',
          expiresAt: pix.expiresAt,
          now,
          body: html`<div class="pay">${pixPayment({ base, brCode: pix.brCode, amount, due: dueOf('PIX', pix.expiresAt), payerLock })}</div>`,
        },
      ]
    : [];
  const blocks = pixBlock.concat(
    acquirerInstruments.map((one) => ({
      method: one.method,
      expiresAt: one.expiresAt,
      now,
      body: html`${otherPayment(one, base, amount)}${dueOf(one.method, one.expiresAt)}`,
    })),
  );
  const firstOpen = blocks.findIndex(isPayable);
  return isSole
    ? html`<section class="methods" data-pay aria-label="Como pagar">\n${blocks.map(soleMethod)}</section>\n`
    : html`<section class="methods" data-pay aria-label="Como pagar"><div class="choose"><h2>Escolha como pagar</h2><p>Cada forma de pagamento tem o seu prazo, no horário de Brasília.</p></div>
${blocks.map((block, i) => foldedMethod(block, i === firstOpen))}</section>
`;
};

// The instructions to pay with Pix: the QR image, the code to copy, the steps.

import { html, type Markup } from '../html.ts';
import { copyButton, copyNote } from './copying.ts';
import type { CheckoutView } from './view.ts';

const STEPS = [
  'Abra o app do seu banco e entre na área Pix.',
  'Escolha Pix copia e cola e cole o código, ou leia o QR Code.',
  'Confira o valor e quem recebe, e confirme o pagamento.',
];

interface PixPayment {
  /** The page's path. */
  readonly base: string;
  readonly brCode: string;
  readonly amount: string;
  /** Shown below the image. */
  readonly due: Markup;
  readonly payerLock: CheckoutView['payerLock'];
}

const lockNote = (taxId: 'CPF' | 'CNPJ'): Markup =>
  html`<p class="lock">Só o titular do ${taxId} informado à loja pode pagar. Um Pix de outra pessoa é devolvido.</p>
`;

/** Returns the instructions. The caller puts them into an element of class `pay`. */
export const pixPayment = ({ base, brCode, amount, due, payerLock }: PixPayment): Markup =>
  html`<div class="scan"><img src="${base}/qr.png" width="240" height="240" alt="QR Code Pix para pagar ${amount}">
${due}</div>
<div class="paste" data-copying>${payerLock === null ? null : lockNote(payerLock)}<h2>Pix copia e cola</h2>
${copyButton('Copiar código')}
<code class="code" translate="no" data-code>${brCode}</code>
${copyNote('Código copiado. Agora cole no app do seu banco.')}
<h2>Como pagar</h2>
<ol>${STEPS.map((step) => html`<li>${step}</li>`)}</ol></div>
`;

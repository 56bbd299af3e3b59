// Paying with Pix: the QR image, the code to copy, the steps.
import { copyButton, copyNote } from './copying.ts';
import { html, type Markup } from './html.ts';

const STEPS = [
  'Abra o app do seu banco e entre na área Pix.',
  'Escolha Pix copia e cola e cole o código, ou leia o QR Code.',
  'Confira o valor e quem recebe, e confirme o pagamento.',
];

/** `base` is the page's path, `due` what stands under the image. The caller puts it into an element of class `pay`. */
export const pixPayment = (base: string, brCode: string, amount: string, due: Markup): Markup =>
  html`<div class="scan"><img src="${base}/qr.png" width="240" height="240" alt="QR Code Pix para pagar ${amount}">
${due}</div>
<div class="paste" data-copying><h2>Pix copia e cola</h2>
${copyButton('Copiar código')}
<code class="code" translate="no" data-code>${brCode}</code>
${copyNote('Código copiado. Agora cole no app do seu banco.')}
<h2>Como pagar</h2>
<ol>${STEPS.map((step) => html`<li>${step}</li>`)}</ol></div>
`;

// GET /: the home page, in Portuguese and English, or JSON for programs.
import { formatAmount, type Language } from '../../domain/presentation/amount.ts';
import { codeBlock, type GuideFacts } from './docs/guides.ts';
import { layout, links } from './docs/layout.ts';
import { html, type Markup } from './html.ts';
import { type ChosenLanguage, LANGUAGE_TAG, languageSwitch } from './language.ts';

/** Amount of the demo charge in centavos. */
const AMOUNT = 12_345;

export interface HomeFacts extends GuideFacts {
  readonly version: string;
}

/** Returns the home page's JSON form. */
export const homeJson = ({ version, publicUrl }: HomeFacts): object => ({
  name: 'Quita',
  version,
  description: 'An event-sourced payment gateway for Brazil.',
  links: {
    api: `${publicUrl}/v1`,
    documentation: `${publicUrl}/docs`,
    openapi: `${publicUrl}/openapi.json`,
    errors: `${publicUrl}/docs/errors`,
    live: `${publicUrl}/health/live`,
    ready: `${publicUrl}/health/ready`,
  },
});

interface Texts {
  readonly title: string;
  readonly description: string;
  readonly skip: string;
  readonly site: string;
  readonly language: string;
  readonly docs: string;
  readonly dashboard: string;
  readonly reference: string;
  readonly headline: string;
  readonly lead: string;
  readonly begin: string;
  readonly points: readonly (readonly [string, string])[];
  readonly demo: string;
  readonly demoLead: string;
  readonly steps: readonly [string, string, string, string];
  readonly more: string;
  readonly copy: string;
  readonly copied: string;
  readonly health: string;
}

const TEXTS: { readonly [L in Language]: Texts } = {
  pt: {
    title: 'Quita · Pix em que cada centavo se explica',
    description: 'Gateway de pagamentos para o Brasil: cobranças Pix, carteira, estornos e webhooks assinados.',
    skip: 'Ir para o conteúdo',
    site: 'Site',
    language: 'Idioma',
    docs: 'Documentação',
    dashboard: 'Painel',
    reference: 'Referência da API',
    headline: 'Pix em que cada centavo se explica.',
    lead: 'A Quita cria a cobrança, recebe o Pix, movimenta a carteira e avisa a sua loja. Tudo o que acontece com o dinheiro fica registrado, evento por evento, e pode ser conferido a qualquer momento.',
    begin: 'Primeira cobrança',
    points: [
      ['Uma requisição, um Pix', 'O código copia e cola, o QR Code e a página de pagamento vêm na mesma resposta.'],
      [
        'Repetir é seguro',
        'A mesma chave de idempotência nunca cobra nem devolve duas vezes, nem depois de uma queda.',
      ],
      [
        'Webhooks assinados',
        'A confirmação chega assim que o Pix cai e é reenviada por cerca de dois dias e meio, até você responder.',
      ],
      [
        'Você controla o tempo',
        'No sandbox, pagamentos, expirações e devoluções levam segundos: é você quem avança o relógio de teste.',
      ],
    ],
    demo: 'Experimente agora',
    demoLead: 'Este servidor tem uma conta de demonstração. Em um terminal desta máquina:',
    steps: [
      'Pegue a chave de teste',
      `Crie uma cobrança de ${formatAmount(AMOUNT, 'BRL', 'pt')}`,
      'Pague como pagador',
      'Veja o saldo',
    ],
    more: 'O guia da primeira cobrança explica cada passo.',
    copy: 'Copiar',
    copied: 'Copiado',
    health: 'Estado do serviço',
  },
  en: {
    title: 'Quita · Pix with every cent explained',
    description: 'A payment gateway for Brazil: Pix charges, wallet, refunds and signed webhooks.',
    skip: 'Skip to content',
    site: 'Site',
    language: 'Language',
    docs: 'Documentation',
    dashboard: 'Dashboard',
    reference: 'API reference',
    headline: 'Pix with every cent explained.',
    lead: 'Quita creates the charge, receives the Pix, updates the wallet and notifies your shop. Every movement of money is recorded, event by event, and can be checked at any time.',
    begin: 'First charge',
    points: [
      ['One request, one Pix', 'The same response contains the pay code, the QR image and the payment page.'],
      ['Safe to retry', 'The same idempotency key never charges or refunds twice, not even after a crash.'],
      [
        'Signed webhooks',
        'The confirmation arrives when the Pix settles, and is retried for about two and a half days.',
      ],
      ['You control time', 'In the sandbox you pay, expire and refund charges in seconds: you advance the test clock.'],
    ],
    demo: 'Try it now',
    demoLead: 'This server has a demo account. In a terminal on this machine:',
    steps: [
      'Get the test key',
      `Create a charge of ${formatAmount(AMOUNT, 'BRL', 'en')}`,
      'Pay it as the payer',
      'Check the balance',
    ],
    more: 'The guide to the first charge explains each step.',
    copy: 'Copy',
    copied: 'Copied',
    health: 'Service health',
  },
};

const commands = (publicUrl: string, demoFile: string): readonly [string, string, string, string] => [
  `KEY=$(node -p "require('${demoFile}').testApiKey")`,
  `curl -s ${publicUrl}/v1/charges \\
  -H "apikey: $KEY" -H "Idempotency-Key: order-$(date +%s)" \\
  -H 'content-type: application/json' \\
  -d '{"amount": ${AMOUNT}, "payment_method": "pix"}' | tee /tmp/charge.json`,
  `CHARGE=$(node -p "require('/tmp/charge.json').id")
curl -s -X POST ${publicUrl}/v1/sandbox/charges/$CHARGE/pay -H "apikey: $KEY"`,
  `curl -s ${publicUrl}/v1/wallets/balance -H "apikey: $KEY"`,
];

const demo = (texts: Texts, publicUrl: string, demoFile: string, keep: string): Markup => {
  const lines = commands(publicUrl, demoFile);
  const items = texts.steps.map(
    (step, index) =>
      html`<li><h3>${step}</h3>${codeBlock(lines[index] as string, 'Shell', { copy: texts.copy, copied: texts.copied })}</li>`,
  );
  return html`<section class="try" aria-labelledby="try"><h2 id="try">${texts.demo}</h2><p class="muted">${texts.demoLead}</p>
<ol>${items}</ol>
<p><a href="/docs/first-charge${keep}">${texts.more}</a></p></section>`;
};

const SAMPLE = html`<div class="sample" aria-hidden="true"><p>POST <b>/v1/charges</b></p><pre>{ <i>"amount"</i>: 12345, <i>"payment_method"</i>: "pix" }</pre>
<p class="answer"><span>201</span> Created</p><pre>{ <i>"status"</i>: "pending",
  <i>"pix"</i>: { <i>"br_code"</i>: "00020101…" },
  <i>"checkout_url"</i>: "…/pay/3h8f0q4w6d" }</pre>
<p class="event">Webhook <b>charge.paid</b></p></div>`;

export const homePage = ({ language, keep }: ChosenLanguage, { version, publicUrl, demoFile }: HomeFacts): string => {
  const texts = TEXTS[language];
  return layout({
    lang: LANGUAGE_TAG[language],
    title: texts.title,
    description: texts.description,
    kind: 'home',
    skip: texts.skip,
    home: `/${keep}`,
    top: html`<nav class="bar" aria-label="${texts.site}">${links(
      [
        { href: '/docs', text: texts.docs },
        { href: '/dashboard', text: texts.dashboard },
      ],
      '/',
    )}</nav>${languageSwitch('/', language, texts.language)}`,
    main: html`<main id="content">
<section class="hero"><div><h1>${texts.headline}</h1><p class="lead">${texts.lead}</p>
<p class="actions"><a class="button" href="/docs/first-charge${keep}">${texts.begin}</a><a class="button second" href="/docs">${texts.reference}</a></p></div>
${SAMPLE}</section>
<dl class="points">${texts.points.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
${demoFile === null ? null : demo(texts, publicUrl, demoFile, keep)}
</main>`,
    foot: html`<span>Quita ${version}</span><a href="/docs">${texts.docs}</a><a href="/openapi.json">openapi.json</a><a href="/health/ready">${texts.health}</a>`,
  });
};

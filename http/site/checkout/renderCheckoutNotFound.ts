import { html } from '../html.ts';
import { ICON } from '../icons.ts';
import { layout } from './layout.ts';

/** Returns the body of a 404 under /pay. It contains nothing of the request and no reason. */
export const renderCheckoutNotFound = (): string =>
  layout({
    title: 'Cobrança não encontrada',
    testMode: false,
    script: false,
    methods: false,
    attributes: html` data-state="missing"`,
    brand: null,
    main: html`<div class="summary"><div class="panel"><span class="mark">${ICON.search}</span><h1>Cobrança não encontrada</h1>
<p>Confira se o endereço está completo ou peça um novo link à loja.</p></div></div>
`,
    footnote: html`Pagamentos processados pela Quita.`,
  });

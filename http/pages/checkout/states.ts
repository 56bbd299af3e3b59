// What the page tells the payer in each state. The texts stand here and nowhere else: the browser gets them as templates.
import { html, type Markup } from './html.ts';
import { ICON } from './icons.ts';

/** Public charge status (interface, "States and transitions"). */
export type CheckoutStatus =
  | 'pending'
  | 'processing'
  | 'paid'
  | 'failed'
  | 'expired'
  | 'cancelled'
  | 'refunded'
  | 'disputed';

/**
 * State of the page: the status, and what `pending` can be besides payable. `verifying`: the due time has passed and the
 * provider has not been asked yet whether money came in time (decisions M4). `uncoded`: there is no Pix code to show.
 */
export type PageState = CheckoutStatus | 'verifying' | 'uncoded';

interface StateText {
  readonly icon: Markup | null;
  readonly heading: string;
  readonly text: string;
}

const STATE: Readonly<Record<PageState, StateText>> = {
  pending: {
    icon: null,
    heading: 'Aguardando pagamento',
    text: 'Esta página avisa assim que o Pix chegar.',
  },
  verifying: {
    icon: ICON.search,
    heading: 'O prazo terminou',
    text: 'Estamos conferindo se o pagamento chegou a tempo. Não pague agora.',
  },
  uncoded: {
    icon: ICON.clock,
    heading: 'Aguardando pagamento',
    text: 'Esta cobrança não tem código Pix. Siga as instruções da loja para pagar.',
  },
  processing: {
    icon: ICON.search,
    heading: 'Pagamento em análise',
    text: 'Não é preciso pagar de novo. O resultado aparece aqui quando a análise terminar.',
  },
  paid: {
    icon: ICON.check,
    heading: 'Pagamento confirmado',
    text: 'Tudo certo, está pago! Você já pode fechar esta página.',
  },
  failed: {
    icon: ICON.alert,
    heading: 'Pagamento não concluído',
    text: 'Esta cobrança não pode ser paga. Peça uma nova à loja.',
  },
  expired: {
    icon: ICON.clock,
    heading: 'Cobrança expirada',
    text: 'O prazo para pagar terminou. Peça um novo código à loja. Um Pix feito depois do prazo volta inteiro para quem pagou.',
  },
  cancelled: {
    icon: ICON.cross,
    heading: 'Cobrança cancelada',
    text: 'Ela não pode mais ser paga. Em caso de dúvida, fale com a loja.',
  },
  refunded: {
    icon: ICON.back,
    heading: 'Pagamento devolvido',
    text: 'O valor foi devolvido. Em caso de dúvida, fale com a loja.',
  },
  disputed: {
    icon: ICON.scales,
    heading: 'Pagamento em disputa',
    text: 'O pagamento foi contestado e o valor fica retido até a decisão.',
  },
};

/** A status that the page goes on watching; any other one ends the watch. */
export const isLive = (status: CheckoutStatus): boolean => status === 'pending' || status === 'processing';

/** `now` and `expiresAt` are ISO instants of the account's clock. checkout.js follows the same rule. */
export const pageState = (
  status: CheckoutStatus,
  brCode: string | null,
  expiresAt: string | null,
  now: string,
): PageState => {
  if (status !== 'pending') return status;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.parse(now)) return 'verifying';
  return brCode === null ? 'uncoded' : 'pending';
};

export const stateHeading = (state: PageState): string => STATE[state].heading;

/** Inside of the status panel. */
export const statePanel = (state: PageState): Markup => {
  const { icon, heading, text } = STATE[state];
  const mark = icon === null ? html`<span class="dot"></span>` : html`<span class="mark">${icon}</span>`;
  return html`${mark}<h2>${heading}</h2><p>${text}</p>`;
};

/** Every state that a page in `state` may come to without a reload: all of them. The browser picks by `data-for`. */
export const stateTemplates = (): readonly Markup[] =>
  (Object.keys(STATE) as PageState[]).map(
    (state) => html`<template data-for="${state}">${statePanel(state)}</template>\n`,
  );

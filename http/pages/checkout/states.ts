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
 * provider has not been asked yet whether money came in time (decisions M4). `preparing`: no provider has said yet how to pay.
 */
export type PageState = CheckoutStatus | 'verifying' | 'preparing';

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
  preparing: {
    icon: ICON.clock,
    heading: 'Preparando o pagamento',
    text: 'Os dados para pagar aparecem aqui assim que estiverem prontos.',
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

/** Texts that speak of Pix, as a payment says them that can be paid otherwise too. */
const TEXT_WITHOUT_PIX: Readonly<Partial<Record<PageState, string>>> = {
  pending: 'Esta página avisa assim que o pagamento chegar.',
  expired: 'O prazo para pagar terminou. Peça uma nova cobrança à loja.',
};

/** A status that the page goes on watching; any other one ends the watch. */
export const isLive = (status: CheckoutStatus): boolean => status === 'pending' || status === 'processing';

/**
 * `now` and `expiresAt` are ISO instants of the account's clock; `expiresAt` is null while there is nothing to pay with.
 * checkout.js follows the same rule.
 */
export const pageState = (status: CheckoutStatus, expiresAt: string | null, now: string): PageState => {
  if (status !== 'pending') return status;
  if (expiresAt === null) return 'preparing';
  return Date.parse(expiresAt) <= Date.parse(now) ? 'verifying' : 'pending';
};

export const stateHeading = (state: PageState): string => STATE[state].heading;

/** Inside of the status panel. `isPixOnly`: Pix is the one way to pay. */
export const statePanel = (state: PageState, isPixOnly: boolean): Markup => {
  const { icon, heading, text } = STATE[state];
  const mark = icon === null ? html`<span class="dot"></span>` : html`<span class="mark">${icon}</span>`;
  return html`${mark}<h2>${heading}</h2><p>${(isPixOnly ? null : TEXT_WITHOUT_PIX[state]) ?? text}</p>`;
};

/** Every state that a page in `state` may come to without a reload: all of them. The browser picks by `data-for`. */
export const stateTemplates = (isPixOnly: boolean): readonly Markup[] =>
  (Object.keys(STATE) as PageState[]).map(
    (state) => html`<template data-for="${state}">${statePanel(state, isPixOnly)}</template>\n`,
  );

// What the page tells the payer in each state. The texts stand here and nowhere else: the browser gets them as templates.
import { html, type Markup } from '../html.ts';
import { ICON } from '../icons.ts';

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
 * provider has not been asked yet whether money came in time (rule M4). `preparing`: no provider has said yet how to pay.
 */
type PageState = CheckoutStatus | 'verifying' | 'preparing';

interface StateText {
  readonly icon: Markup | null;
  readonly heading: string;
  readonly text: string;
  /** Instead of `text` where a script watches: without one, nothing on the page may promise to change by itself. */
  readonly watched?: string;
}

const STATE: Readonly<Record<PageState, StateText>> = {
  pending: {
    icon: null,
    heading: 'Aguardando pagamento',
    text: 'Siga as instruções abaixo para pagar.',
    watched: 'Esta página avisa assim que o Pix chegar.',
  },
  verifying: {
    icon: ICON.search,
    heading: 'O prazo terminou',
    text: 'Estamos conferindo se o pagamento chegou a tempo. Não pague agora.',
  },
  preparing: {
    icon: ICON.clock,
    heading: 'Preparando o pagamento',
    text: 'Os dados para pagar ainda não estão prontos.',
    watched: 'Os dados para pagar aparecem aqui assim que estiverem prontos.',
  },
  processing: {
    icon: ICON.search,
    heading: 'Pagamento em análise',
    text: 'Não é preciso pagar de novo.',
    watched: 'Não é preciso pagar de novo. O resultado aparece aqui quando a análise terminar.',
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
    text: 'O prazo para pagar terminou. Peça um novo código à loja. Um Pix feito depois do prazo é devolvido integralmente a quem pagou.',
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
const WITHOUT_PIX: Readonly<Partial<Record<PageState, Partial<StateText>>>> = {
  pending: { watched: 'Esta página avisa assim que o pagamento chegar.' },
  expired: { text: 'O prazo para pagar terminou. Peça uma nova cobrança à loja.' },
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

/** What the panel says besides its state. */
export interface PanelFacts {
  /** Pix is the one way to pay. */
  readonly isPixOnly: boolean;
  /** `R$ 5,00 de R$ 12,34` of a payment that was given back in part; null: it was not. */
  readonly refundedPart: string | null;
  /** Where the shop is; null: not known. */
  readonly returnUrl: string | null;
  /** Path of the receipt; null: there is none. */
  readonly receiptPath: string | null;
}

const textOf = (state: PageState, { isPixOnly, refundedPart }: PanelFacts): StateText => {
  if (state === 'paid' && refundedPart !== null)
    return {
      icon: ICON.check,
      heading: 'Pagamento confirmado e devolvido parcialmente',
      text: `Foram devolvidos ${refundedPart}.`,
    };
  return isPixOnly ? STATE[state] : { ...STATE[state], ...WITHOUT_PIX[state] };
};

export const stateHeading = (state: PageState, facts: PanelFacts): string => textOf(state, facts).heading;

const isEnded = (state: PageState): boolean => state !== 'verifying' && state !== 'preparing' && !isLive(state);

const links = (state: PageState, { returnUrl, receiptPath }: PanelFacts): Markup => {
  const receipt =
    state === 'paid' && receiptPath !== null
      ? html`<a class="button second" href="${receiptPath}" target="_blank">${ICON.file}Ver comprovante</a>`
      : null;
  const back =
    isEnded(state) && returnUrl !== null
      ? html`<a class="button second" href="${returnUrl}" rel="noreferrer">Voltar à loja</a>`
      : null;
  return html`${receipt}${back}`;
};

/** Inside of the status panel. `isWatched`: a script follows the status. */
export const statePanel = (state: PageState, facts: PanelFacts, isWatched: boolean): Markup => {
  const { icon, heading, text, watched } = textOf(state, facts);
  const mark = icon === null ? html`<span class="dot"></span>` : html`<span class="mark">${icon}</span>`;
  return html`${mark}<h2>${heading}</h2><p>${isWatched ? (watched ?? text) : text}</p>${links(state, facts)}`;
};

/** Every state that a page may come to without a reload: all of them. The browser picks by `data-for`. */
export const stateTemplates = (facts: PanelFacts): readonly Markup[] =>
  (Object.keys(STATE) as PageState[]).map(
    (state) => html`<template data-for="${state}">${statePanel(state, facts, true)}</template>\n`,
  );

// The texts of the checkout page in each state. The browser gets them as templates, so that they exist only here.
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
 * State of the page: the status, or one of two states of a pending charge that can't be paid. `verifying`: the due time has passed, and
 * Quita has yet to ask the provider whether money arrived in time (rule M4). `preparing`: no provider has sent payment instructions yet.
 */
type PageState = CheckoutStatus | 'verifying' | 'preparing';

interface StateText {
  readonly icon: Markup | null;
  readonly heading: string;
  readonly text: string;
  /** Replaces `text` while a script watches the status. Without scripts, the page must not promise to update by itself. */
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
    text: 'O pagamento está sendo verificado: pode ter chegado a tempo. Não pague agora.',
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
    text: 'O pagamento foi contestado. Em caso de dúvida, fale com a loja.',
  },
};

/** Replacements for texts that mention Pix, for payments with other methods. */
const WITHOUT_PIX: Readonly<Partial<Record<PageState, Partial<StateText>>>> = {
  pending: { watched: 'Esta página avisa assim que o pagamento chegar.' },
  expired: { text: 'O prazo para pagar terminou. Peça uma nova cobrança à loja.' },
};

/** Returns whether the status can still change, so that the page keeps watching it. */
export const isLive = (status: CheckoutStatus): boolean => status === 'pending' || status === 'processing';

/**
 * Returns the state of the page. `now` and `expiresAt` are ISO instants of the account's clock; `expiresAt` is null while there are no
 * payment instructions. checkout.js has the same rule.
 */
export const pageState = (status: CheckoutStatus, expiresAt: string | null, now: string): PageState => {
  if (status !== 'pending') return status;
  if (expiresAt === null) return 'preparing';
  return Date.parse(expiresAt) <= Date.parse(now) ? 'verifying' : 'pending';
};

/** Facts that the panel shows besides the state. */
export interface PanelFacts {
  readonly isPixOnly: boolean;
  /** `R$ 5,00 de R$ 12,34` of a partially refunded payment, otherwise null. */
  readonly refundedPart: string | null;
  /** The shop's URL, or null if unknown. */
  readonly returnUrl: string | null;
  /** Path of the receipt, or null if absent. */
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

/** Returns the content of the status panel. `isWatched`: a script follows the status. */
export const statePanel = (state: PageState, facts: PanelFacts, isWatched: boolean): Markup => {
  const { icon, heading, text, watched } = textOf(state, facts);
  const mark = icon === null ? html`<span class="dot"></span>` : html`<span class="mark">${icon}</span>`;
  return html`${mark}<h2>${heading}</h2><p>${isWatched ? (watched ?? text) : text}</p>${links(state, facts)}`;
};

/** Returns a template for every state, because a page can reach any of them without a reload. The browser picks by `data-for`. */
export const stateTemplates = (facts: PanelFacts): readonly Markup[] =>
  (Object.keys(STATE) as PageState[]).map(
    (state) => html`<template data-for="${state}">${statePanel(state, facts, true)}</template>\n`,
  );

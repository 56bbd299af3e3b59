// The payer's page at /pay/<raw>, its files and documents, and its live status (rules I6, I7, P3). The raw id is the credential.
import { StreamUnreadable, unlessUnreadable } from '../../application/core/commandHandler.ts';
import { documentTokenOf } from '../../application/core/derivedIds.ts';
import { LOGO_TYPES } from '../../application/ports/logos.ts';
import { findInstrument } from '../../domain/charge/instruments.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRawId } from '../../domain/kernel/ids.ts';
import { reject } from '../../domain/kernel/rejection.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { publicStatus } from '../../domain/presentation/status.ts';
import * as s from '../kernel/jsonSchema.ts';
import { matching } from '../kernel/query.ts';
import { json, pathParam, type Route, type RouteContext, route, type Tag } from '../kernel/route.ts';
import { isSameSecret } from '../kernel/sameSecret.ts';
import { NOT_MODIFIED } from '../kernel/send.ts';
import type { GatewayServices, LiveStatus } from '../kernel/serverContext.ts';
import { assertShown } from '../kernel/upToDate.ts';
import { FOR_EVER, sentAsset } from './assets.ts';
import { type BoletoFacts, renderBoleto } from './boletoPdf.ts';
import { checkoutAsset } from './checkout/assets.ts';
import { colorAsset } from './checkout/brandColor.ts';
import { checkoutContentSecurityPolicy } from './checkout/contentSecurityPolicy.ts';
import { renderCardPage, renderCheckout, renderCheckoutNotFound } from './checkout/renderCheckout.ts';
import { isLive } from './checkout/states.ts';
import {
  boletoFactsOf,
  checkoutViewOf,
  liveStatusOf,
  type PageContext,
  receiptFactsOf,
  withoutPayer,
} from './paymentFacts.ts';
import { renderQrPng } from './qrPng.ts';
import { renderReceipt } from './receiptPdf.ts';
import { StatusStreams } from './statusStreams.ts';

const CHECKOUT: Tag = {
  name: 'Checkout',
  description: 'The payer’s page with its documents and images. The raw id in the path is the credential.',
};

const ALONE = "default-src 'none'; sandbox";

/** Parses an impossible id to null, so that pages can answer 404 themselves. */
const payerParam = {
  id: pathParam('The raw id of the charge.', (text) => (isRawId(text) ? (text as PaymentId) : null)),
};
type PayerContext = Pick<RouteContext<'public', typeof payerParam>, 'params' | 'services'>;

const paymentAsked = async ({ params: { id }, services }: PayerContext): Promise<ExistingPayment | null> => {
  if (id === null) return null;
  assertShown({ services, caller: null }, id);
  return (await services.views.payments.findForPayer([id])).get(id) ?? null;
};

const nowOf = ({ charge: { terms } }: ExistingPayment, { accounts }: GatewayServices) =>
  accounts.now(terms.accountId, terms.mode);
const contextOf = async (payment: ExistingPayment, services: GatewayServices): Promise<PageContext> => {
  const { settings } = await services.accounts.get(payment.charge.terms.accountId);
  const now = await nowOf(payment, services);
  return { merchant: settings, now };
};
const viewOf = async (payment: ExistingPayment, services: GatewayServices) =>
  checkoutViewOf(payment, await contextOf(payment, services));
const statusOf = async (payment: ExistingPayment, services: GatewayServices) =>
  liveStatusOf(payment, await nowOf(payment, services));

/** Returns the status streams of the pages that are open in this process. */
export const openStatusStreams = (services: GatewayServices): StatusStreams =>
  new StatusStreams(services.progress, async (ids) => {
    const found = await services.views.payments.findForPayer(ids);
    const statuses = new Map<PaymentId, LiveStatus>();
    const add = async ([id, payment]: readonly [PaymentId, ExistingPayment]) => {
      const status = await unlessUnreadable(statusOf(payment, services));
      // One account that can't be read must not silence the pages of all others.
      if (!(status instanceof StreamUnreadable)) statuses.set(id, status);
    };
    await Promise.all([...found].map(add));
    return statuses;
  });

const noSuch = (what: string) => reject('not_found', `There is no such ${what}.`);

/** Common properties of all routes for payers. */
const ofPayer = {
  tag: CHECKOUT,
  principal: 'public',
  limit: 'pages',
} as const;
const ofPayment = { ...ofPayer, params: payerParam, reads: ['payments'] } as const;

const assetRoute = route('GET', '/pay/assets/{name}', {
  ...ofPayer,
  operationId: 'getCheckoutAsset',
  summary: 'Get a file of the payer’s pages',
  params: {
    name: pathParam('The name of the file.', (text) => checkoutAsset(text) ?? noSuch('file')),
  },
  responses: {
    200: {
      kind: 'bytes',
      description: 'The file. Its URL in the pages changes with its content.',
      contentTypes: ['text/css', 'text/javascript', 'image/svg+xml'],
    },
    304: NOT_MODIFIED,
  },
  handle: async ({ params: { name: asset } }) => sentAsset(asset),
});

const colorRoute = route('GET', '/pay/colors/{name}', {
  ...ofPayer,
  operationId: 'getCheckoutColor',
  summary: 'Get the style sheet of a merchant’s colour, with readable text colours',
  params: {
    name: pathParam('Six hex digits and `.css`.', (text) => colorAsset(text) ?? noSuch('file')),
  },
  responses: {
    200: { kind: 'bytes', description: 'The style sheet.', contentTypes: ['text/css'] },
    304: NOT_MODIFIED,
  },
  handle: async ({ params: { name: asset } }) => sentAsset(asset),
});

const logoRoute = route('GET', '/pay/logos/{sha256}', {
  ...ofPayer,
  operationId: 'getLogo',
  summary: 'Get the logo of a merchant',
  params: {
    sha256: {
      description: 'SHA-256 of the image.',
      schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      parse: (text: string) => (/^[0-9a-f]{64}$/.test(text) ? text : noSuch('logo')),
    },
  },
  responses: { 200: { kind: 'bytes', description: 'The image.', contentTypes: LOGO_TYPES }, 304: NOT_MODIFIED },
  handle: async ({ params: { sha256 }, services }) => {
    const logo = await services.findLogo(sha256);
    if (logo === null) return noSuch('logo');
    // If it is opened as a document, nothing in it may run or load.
    const headers = { 'Cache-Control': FOR_EVER, ETag: `"${sha256}"`, 'Content-Security-Policy': ALONE };
    return { status: 200, headers, contentType: logo.contentType, bytes: logo.bytes };
  },
});

const page = <Status extends 200 | 404>(status: Status, html: string) => ({
  status,
  headers: { 'Content-Security-Policy': checkoutContentSecurityPolicy },
  page: html,
});

const checkoutRoute = route('GET', '/pay/{id}', {
  ...ofPayment,
  operationId: 'showCheckout',
  summary: 'Show the page where the payer pays the charge and sees its status',
  responses: {
    200: { kind: 'page', description: 'The page.' },
    404: { kind: 'page', description: 'There is no such charge.' },
  },
  handle: async (context) => {
    const payment = await paymentAsked(context);
    return payment
      ? page(200, renderCheckout(await viewOf(payment, context.services)))
      : page(404, renderCheckoutNotFound());
  },
});

const cardRoute = route('GET', '/pay/{id}/card', {
  ...ofPayment,
  operationId: 'showCardPage',
  summary: 'Show the page of the sandbox’s card acquirer',
  responses: {
    200: { kind: 'page', description: 'The page. It explains how to settle the charge without a card.' },
    404: { kind: 'page', description: 'There is no such charge, it does not accept cards, or it is live.' },
  },
  handle: async (context) => {
    const payment = await paymentAsked(context);
    const card = payment && findInstrument(payment.charge.instruments, 'CREDIT_CARD');
    // Sandbox only, because the page explains how to settle without a card.
    if (!card || payment.charge.terms.mode !== 'test') return page(404, renderCheckoutNotFound());
    return page(200, renderCardPage({ ...(await viewOf(payment, context.services)), card }));
  },
});

const png = { 200: { kind: 'bytes', description: 'The QR code.', contentTypes: ['image/png'] } } as const;
const sendQr = async (text: string | undefined) => {
  if (!text) return noSuch('QR code');
  // Shops embed the image in their own pages.
  const headers = { 'Cache-Control': FOR_EVER, 'Cross-Origin-Resource-Policy': 'cross-origin' };
  return { status: 200, headers, contentType: 'image/png', bytes: await renderQrPng(text) } as const;
};

const pixQrRoute = route('GET', '/pay/{id}/qr.png', {
  ...ofPayment,
  operationId: 'getCheckoutQr',
  summary: 'Get the QR code of the Pix charge',
  responses: png,
  handle: async (context) => sendQr((await paymentAsked(context))?.charge.instruments.pix?.brCode),
});

const cryptoQrRoute = route('GET', '/pay/{id}/crypto.png', {
  ...ofPayment,
  operationId: 'getCheckoutCryptoQr',
  summary: 'Get the QR code of the bare crypto address, a form that every wallet can read',
  responses: png,
  handle: async (context) => {
    const payment = await paymentAsked(context);
    return sendQr(payment ? findInstrument(payment.charge.instruments, 'CRYPTO')?.address : undefined);
  },
});

const pdf = (description: string) =>
  ({ 200: { kind: 'bytes', description, contentTypes: ['application/pdf'] } }) as const;
const sendPdf = (fileName: string, bytes: Buffer) => {
  const headers = { 'Content-Disposition': `inline; filename="${fileName}"` };
  return { status: 200, headers, contentType: 'application/pdf', bytes } as const;
};

/** Returns the boleto of the payment, or null if it doesn’t exist or can no longer be paid. */
const boletoAsked = async (context: PayerContext): Promise<{ facts: BoletoFacts; token: string } | null> => {
  const payment = await paymentAsked(context);
  const boleto = payment && findInstrument(payment.charge.instruments, 'BOLETO');
  if (!boleto || !isLive(publicStatus(payment))) return null;
  const { terms } = payment.charge;
  const { settings, idSeed } = await context.services.accounts.get(terms.accountId);
  const facts = boletoFactsOf(terms, boleto, settings);
  return { facts, token: documentTokenOf(idSeed, terms.paymentId) };
};

const boletoRoute = route('GET', '/pay/{id}/boleto.pdf', {
  ...ofPayment,
  operationId: 'getCheckoutBoleto',
  summary: 'Get the boleto with the payer’s name, by the link in the merchant’s response',
  query: {
    // A repeated token is answered like a wrong one.
    token: { ...matching('The token of the merchant’s link.', 'a token', (text) => text), refusal: noSuch('boleto') },
  },
  responses: pdf('The boleto, while there is something to pay.'),
  handle: async (context) => {
    const boleto = await boletoAsked(context);
    const { token = '' } = context.query;
    if (!boleto || !isSameSecret(token, boleto.token)) return noSuch('boleto');
    return sendPdf('boleto.pdf', await renderBoleto(boleto.facts));
  },
});

const publicBoletoRoute = route('GET', '/pay/{id}/public/boleto.pdf', {
  ...ofPayment,
  operationId: 'getPublicBoleto',
  summary: 'Get the boleto without the payer’s name',
  responses: pdf('The boleto, while there is something to pay.'),
  handle: async (context) => {
    const boleto = await boletoAsked(context);
    return boleto ? sendPdf('boleto.pdf', await renderBoleto(withoutPayer(boleto.facts))) : noSuch('boleto');
  },
});

/** Returns the facts of a receipt, or null if the payment is not settled. */
const receiptOf = async (payment: ExistingPayment, services: GatewayServices) => {
  const { settings } = await services.accounts.get(payment.charge.terms.accountId);
  return receiptFactsOf(payment, settings, await services.findLogo(settings.logo));
};

const receiptRoute = route('GET', '/pay/{id}/receipt.pdf', {
  ...ofPayment,
  operationId: 'getCheckoutReceipt',
  summary: 'Get the receipt without the payer’s name',
  responses: pdf('The receipt of a settled charge.'),
  handle: async (context) => {
    const { services } = context;
    const payment = await paymentAsked(context);
    const facts = payment && (await receiptOf(payment, services));
    if (!facts) return reject('not_found', 'There is no receipt for this charge.');
    return sendPdf('comprovante.pdf', await renderReceipt(withoutPayer(facts)));
  },
});

const statusSchema = s.exactly({
  status: s.described('The status of the charge.', s.string()),
  expires_at: s.orNull(s.described('When the charge expires; null until it can be paid.', s.timestamp)),
  now: s.described('Account time.', s.timestamp),
});

const statusRoute = route('GET', '/pay/{id}/status', {
  ...ofPayment,
  operationId: 'getCheckoutStatus',
  summary: 'Get the status of the charge, for pages that can’t keep a stream open',
  responses: { 200: json('The current status.', statusSchema) },
  handle: async (context) => {
    const payment = await paymentAsked(context);
    return payment ? { status: 200, body: await statusOf(payment, context.services) } : noSuch('charge');
  },
});

const eventsRoute = route('GET', '/pay/{id}/events', {
  ...ofPayment,
  operationId: 'streamCheckoutStatus',
  summary: 'Stream changes of the charge’s status as server-sent events',
  responses: {
    200: { kind: 'eventStream', description: 'Events `status`, beginning with the current one.', schema: statusSchema },
    204: { kind: 'empty', description: 'The status is final.' },
  },
  handle: async (context) => {
    const { address, services } = context;
    const payment = await paymentAsked(context);
    if (!payment) return noSuch('charge');
    return services.statusStreams.answer(payment.charge.terms.paymentId, address, await statusOf(payment, services));
  },
});

export const CHECKOUT_ROUTES: readonly Route[] = [
  assetRoute, // before the routes whose {id} would match its path
  colorRoute,
  logoRoute,
  checkoutRoute,
  cardRoute,
  pixQrRoute,
  cryptoQrRoute,
  boletoRoute,
  publicBoletoRoute,
  receiptRoute,
  statusRoute,
  eventsRoute,
];

// The payer's page: /pay/<raw>, what belongs to it, and its live status (decisions I6, I7, P3). No key: the raw id is a capability.
import type { Express, Request, Response } from 'express';
import helmet from 'helmet';
import { findInstrument } from '../../domain/charge/instruments.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRawId } from '../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { findPaymentsForPayer } from '../../projections/payments/queries.ts';
import { sendError, sendJson } from '../errors.ts';
import type { Services } from '../services.ts';
import { renderBoleto } from './boletoPdf.ts';
import { checkoutAsset } from './checkout/assets.ts';
import { checkoutContentSecurityPolicy } from './checkout/contentSecurityPolicy.ts';
import { renderCardPage } from './checkout/renderCardPage.ts';
import { renderCheckout } from './checkout/renderCheckout.ts';
import { renderCheckoutNotFound } from './checkout/renderCheckoutNotFound.ts';
import { boletoFactsOf, checkoutViewOf, liveStatusOf, returnUrlOf } from './paymentFacts.ts';
import { renderQrPng } from './qrPng.ts';
import { StatusStreams } from './statusStreams.ts';

/** Worst case of read-your-writes. */
const CATCH_UP_MS = 1_000;
const YEAR_SECONDS = 31_536_000;

const protect = helmet({ contentSecurityPolicy: false, hsts: false, referrerPolicy: { policy: 'no-referrer' } });

const sendPage = (res: Response, status: number, page: string) => {
  res.setHeader('Content-Security-Policy', checkoutContentSecurityPolicy);
  res.setHeader('Cache-Control', 'no-store');
  res.status(status).type('html').send(page);
};

type PaymentRequest = Request<{ id: string }>;

export const mountCheckout = (app: Express, services: Services): StatusStreams => {
  const find = async ({ params: { id } }: PaymentRequest): Promise<ExistingPayment | null> => {
    if (!isRawId(id)) return null;
    await services.progress.caughtUp(CATCH_UP_MS);
    return (await findPaymentsForPayer(services.db, [id as PaymentId])).get(id as PaymentId) ?? null;
  };
  const nowOf = ({ charge: { terms } }: ExistingPayment) => services.accounts.now(terms.accountId, terms.mode);
  const statusOf = async (payment: ExistingPayment) => liveStatusOf(payment, await nowOf(payment));
  const streams = new StatusStreams(services.progress, async (ids) => {
    const found = await findPaymentsForPayer(services.db, ids);
    return new Map(await Promise.all([...found].map(async ([id, payment]) => [id, await statusOf(payment)] as const)));
  });

  app.use('/pay', protect);
  app.get('/pay/assets/:name', (req: Request<{ name: string }>, res) => {
    const asset = checkoutAsset(req.params.name);
    if (!asset) return sendError(req, res, { code: 'not_found', message: 'There is no such file.' });
    res.setHeader('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`);
    res.setHeader('ETag', `"${asset.version}"`);
    return res.setHeader('Content-Type', asset.contentType).end(asset.body);
  });
  app.get('/pay/:id', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    if (!payment) return sendPage(res, 404, renderCheckoutNotFound());
    return sendPage(res, 200, renderCheckout(checkoutViewOf(payment, await nowOf(payment))));
  });
  app.get('/pay/:id/card', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    const card = payment && findInstrument(payment.charge.instruments, 'CREDIT_CARD');
    // It tells how to settle without a card: only the sandbox has such a page.
    if (!card || payment.charge.terms.mode !== 'test') return sendPage(res, 404, renderCheckoutNotFound());
    const view = {
      ...checkoutViewOf(payment, await nowOf(payment)),
      card,
      returnUrl: returnUrlOf(payment.charge.terms),
    };
    return sendPage(res, 200, renderCardPage(view));
  });
  app.get('/pay/:id/qr.png', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    const code = payment?.charge.instruments.pix?.brCode;
    if (!code) return sendError(req, res, { code: 'not_found', message: 'There is no such QR code.' });
    res.setHeader('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`);
    // Shops show it on their own pages.
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    return res.setHeader('Content-Type', 'image/png').end(await renderQrPng(code));
  });
  app.get('/pay/:id/boleto.pdf', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    const boleto = payment && findInstrument(payment.charge.instruments, 'BOLETO');
    if (!boleto) return sendError(req, res, { code: 'not_found', message: 'There is no such boleto.' });
    const { terms } = payment.charge;
    const { settings } = await services.accounts.get(terms.accountId);
    const pdf = await renderBoleto(boletoFactsOf(terms, boleto, settings.receiverName));
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Content-Disposition', 'inline; filename="boleto.pdf"');
    return res.setHeader('Content-Type', 'application/pdf').end(pdf);
  });
  app.get('/pay/:id/status', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    return payment
      ? sendJson(res, 200, await statusOf(payment))
      : sendError(req, res, { code: 'not_found', message: 'There is no such charge.' });
  });
  app.get('/pay/:id/events', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    if (!payment) return sendError(req, res, { code: 'not_found', message: 'There is no such charge.' });
    return streams.add(payment.charge.terms.paymentId, res, await statusOf(payment));
  });
  return streams;
};

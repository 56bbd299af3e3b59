// The payer's page: /pay/<raw>, what belongs to it, and its live status (rules I6, I7, P3). No key: the raw id is a capability.
import type { Express, Request, Response } from 'express';
import helmet from 'helmet';
import { documentTokenOf } from '../../application/core/derivedIds.ts';
import { findInstrument } from '../../domain/charge/instruments.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRawId } from '../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { publicStatus } from '../../domain/presentation/status.ts';
import { isSameSecret } from '../kernel/authentication.ts';
import { sendError, sendJson } from '../kernel/errors.ts';
import type { Services } from '../kernel/services.ts';
import { assertShown, untilLevel } from '../kernel/upToDate.ts';
import { type BoletoFacts, renderBoleto } from './boletoPdf.ts';
import { checkoutAsset } from './checkout/assets.ts';
import { checkoutContentSecurityPolicy } from './checkout/contentSecurityPolicy.ts';
import { renderCardPage } from './checkout/renderCardPage.ts';
import { renderCheckout } from './checkout/renderCheckout.ts';
import { renderCheckoutNotFound } from './checkout/renderCheckoutNotFound.ts';
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

const YEAR_SECONDS = 31_536_000;

const protect = helmet({ contentSecurityPolicy: false, hsts: false, referrerPolicy: { policy: 'no-referrer' } });

const sendPage = (res: Response, status: number, page: string) => {
  res.setHeader('Content-Security-Policy', checkoutContentSecurityPolicy);
  res.setHeader('Cache-Control', 'no-store');
  res.status(status).type('html').send(page);
};

const sendQr = async (req: Request, res: Response, text: string | undefined) => {
  if (!text) return sendError(req, res, { code: 'not_found', message: 'There is no such QR code.' });
  res.setHeader('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`);
  // Shops show it on their own pages.
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  return res.setHeader('Content-Type', 'image/png').end(await renderQrPng(text));
};

const sendPdf = (res: Response, fileName: string, pdf: Buffer) => {
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Disposition', `inline; filename="${fileName}"`);
  return res.setHeader('Content-Type', 'application/pdf').end(pdf);
};

type PaymentRequest = Request<{ id: string }>;

export const mountCheckout = (app: Express, services: Services): StatusStreams => {
  const find = async ({ params: { id } }: PaymentRequest): Promise<ExistingPayment | null> => {
    if (!isRawId(id)) return null;
    await untilLevel(services, ['payments']);
    assertShown({ services, caller: null }, id as PaymentId);
    return (await services.views.payments.findForPayer([id as PaymentId])).get(id as PaymentId) ?? null;
  };
  const nowOf = ({ charge: { terms } }: ExistingPayment) => services.accounts.now(terms.accountId, terms.mode);
  const contextOf = async (payment: ExistingPayment): Promise<PageContext> => {
    const { accountId, mode } = payment.charge.terms;
    const { settings } = await services.accounts.get(accountId);
    const exposesReceipts = services.exposesReceipts(mode);
    return { receiverName: settings.receiverName, now: await nowOf(payment), exposesReceipts };
  };
  const viewOf = async (payment: ExistingPayment) => checkoutViewOf(payment, await contextOf(payment));
  const statusOf = async (payment: ExistingPayment) => liveStatusOf(payment, await nowOf(payment));
  const streams = new StatusStreams(services.progress, async (ids) => {
    const found = await services.views.payments.findForPayer(ids);
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
    return sendPage(res, 200, renderCheckout(await viewOf(payment)));
  });
  app.get('/pay/:id/card', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    const card = payment && findInstrument(payment.charge.instruments, 'CREDIT_CARD');
    // It tells how to settle without a card: only the sandbox has such a page.
    if (!card || payment.charge.terms.mode !== 'test') return sendPage(res, 404, renderCheckoutNotFound());
    return sendPage(res, 200, renderCardPage({ ...(await viewOf(payment)), card }));
  });
  app.get('/pay/:id/qr.png', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    const code = payment?.charge.instruments.pix?.brCode;
    return sendQr(req, res, code);
  });
  app.get('/pay/:id/crypto.png', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    // The address alone: the one form that every wallet reads, whatever its network.
    return sendQr(req, res, payment ? findInstrument(payment.charge.instruments, 'CRYPTO')?.address : undefined);
  });
  const boletoOf = async (payment: ExistingPayment | null): Promise<{ facts: BoletoFacts; token: string } | null> => {
    const boleto = payment && findInstrument(payment.charge.instruments, 'BOLETO');
    if (!boleto || !isLive(publicStatus(payment))) return null;
    const { terms } = payment.charge;
    const { settings, idSeed } = await services.accounts.get(terms.accountId);
    const facts = boletoFactsOf(terms, boleto, settings.receiverName);
    return { facts, token: documentTokenOf(idSeed, terms.paymentId) };
  };
  const noBoleto = (req: Request, res: Response) =>
    sendError(req, res, { code: 'not_found', message: 'There is no such boleto.' });
  // It names the payer: only whoever has the link that the merchant got, and only while there is something to pay.
  app.get('/pay/:id/boleto.pdf', async (req: PaymentRequest, res) => {
    const boleto = await boletoOf(await find(req));
    const { token } = req.query;
    if (!boleto || typeof token !== 'string' || !isSameSecret(token, boleto.token)) return noBoleto(req, res);
    return sendPdf(res, 'boleto.pdf', await renderBoleto(boleto.facts));
  });
  app.get('/pay/:id/public/boleto.pdf', async (req: PaymentRequest, res) => {
    const boleto = await boletoOf(await find(req));
    if (!boleto) return noBoleto(req, res);
    return sendPdf(res, 'boleto.pdf', await renderBoleto(withoutPayer(boleto.facts)));
  });
  app.get('/pay/:id/receipt.pdf', async (req: PaymentRequest, res) => {
    const payment = await find(req);
    const facts = payment && receiptFactsOf(payment, (await contextOf(payment)).receiverName);
    if (!facts || !services.exposesReceipts(facts.mode))
      return sendError(req, res, { code: 'not_found', message: 'There is no receipt of this charge.' });
    return sendPdf(res, 'comprovante.pdf', await renderReceipt(withoutPayer(facts)));
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
    return streams.add(payment.charge.terms.paymentId, req, res, await statusOf(payment));
  });
  return streams;
};

// The payer's page: /pay/<raw>, its QR image, and its live status (decisions I6, I7). No key: the raw id is a capability.
import type { Express, Request, Response } from 'express';
import helmet from 'helmet';
import type { PaymentId } from '../../domain/kernel/ids.ts';
import { isRawId } from '../../domain/kernel/ids.ts';
import type { ExistingPayment } from '../../domain/payment/payment.ts';
import { publicStatus } from '../../domain/wire/status.ts';
import { findPaymentsForPayer } from '../../projections/payments/queries.ts';
import { sendError, sendJson } from '../errors.ts';
import type { Services } from '../services.ts';
import { checkoutAsset } from './checkout/assets.ts';
import { checkoutContentSecurityPolicy } from './checkout/contentSecurityPolicy.ts';
import { renderCheckout } from './checkout/renderCheckout.ts';
import { renderCheckoutNotFound } from './checkout/renderCheckoutNotFound.ts';
import { renderQrPng } from './qrPng.ts';
import { StatusStreams } from './statusStreams.ts';

/** Worst case of read-your-writes. */
const CATCH_UP_MS = 1_000;
const YEAR_SECONDS = 31_536_000;

const protect = helmet({ contentSecurityPolicy: false, hsts: false, referrerPolicy: { policy: 'no-referrer' } });

const brCodeOf = ({ charge }: ExistingPayment): string | null => ('pix' in charge ? charge.pix.brCode : null);

export const mountCheckout = (app: Express, services: Services): StatusStreams => {
  const find = async (id: string): Promise<ExistingPayment | null> => {
    if (!isRawId(id)) return null;
    await services.progress.caughtUp(CATCH_UP_MS);
    return (await findPaymentsForPayer(services.db, [id as PaymentId])).get(id as PaymentId) ?? null;
  };
  const statusOf = async (payment: ExistingPayment) => {
    const { accountId, mode } = payment.charge.terms;
    return {
      status: publicStatus(payment),
      expires_at: 'pix' in payment.charge ? payment.charge.pix.expiresAt : null,
      now: await services.accounts.now(accountId, mode),
    };
  };
  const streams = new StatusStreams(services.progress, async (ids) => {
    const found = await findPaymentsForPayer(services.db, ids);
    return new Map(await Promise.all([...found].map(async ([id, payment]) => [id, await statusOf(payment)] as const)));
  });
  const html = (res: Response, status: number, page: string) => {
    res.setHeader('Content-Security-Policy', checkoutContentSecurityPolicy);
    res.setHeader('Cache-Control', 'no-store');
    res.status(status).type('html').send(page);
  };

  app.use('/pay', protect);
  app.get('/pay/assets/:name', (req: Request<{ name: string }>, res) => {
    const asset = checkoutAsset(req.params.name);
    if (!asset) return sendError(req, res, { code: 'not_found', message: 'There is no such file.' });
    res.setHeader('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`);
    res.setHeader('ETag', `"${asset.version}"`);
    return res.setHeader('Content-Type', asset.contentType).end(asset.body);
  });
  app.get('/pay/:id', async (req: Request<{ id: string }>, res) => {
    const payment = await find(req.params.id);
    if (!payment) return html(res, 404, renderCheckoutNotFound());
    const { paymentId, amount, currency, mode } = payment.charge.terms;
    const { status, expires_at: expiresAt, now } = await statusOf(payment);
    const view = {
      rawId: paymentId,
      amount,
      currency,
      status,
      brCode: brCodeOf(payment),
      expiresAt,
      now,
      testMode: mode === 'test',
    };
    return html(res, 200, renderCheckout(view));
  });
  app.get('/pay/:id/qr.png', async (req: Request<{ id: string }>, res) => {
    const payment = await find(req.params.id);
    const code = payment && brCodeOf(payment);
    if (!code) return sendError(req, res, { code: 'not_found', message: 'There is no such QR code.' });
    res.setHeader('Cache-Control', `public, max-age=${YEAR_SECONDS}, immutable`);
    // Shops show it on their own pages.
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    return res.setHeader('Content-Type', 'image/png').end(await renderQrPng(code));
  });
  app.get('/pay/:id/status', async (req: Request<{ id: string }>, res) => {
    const payment = await find(req.params.id);
    return payment
      ? sendJson(res, 200, await statusOf(payment))
      : sendError(req, res, { code: 'not_found', message: 'There is no such charge.' });
  });
  app.get('/pay/:id/events', async (req: Request<{ id: string }>, res) => {
    const payment = await find(req.params.id);
    if (!payment) return sendError(req, res, { code: 'not_found', message: 'There is no such charge.' });
    return streams.add(payment.charge.terms.paymentId, res, await statusOf(payment));
  });
  return streams;
};

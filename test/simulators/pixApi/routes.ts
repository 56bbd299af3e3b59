// Maps each path to its handler and the scope that it requires.
import type { Answer, Call } from './call.ts';
import { getCharge, listCharges, patchCharge, postCharge, putCharge } from './charges.ts';
import type { Operation } from './operations.ts';
import { getBalance, getPayout, getPayoutByEndToEndId, listPayouts, putPayout } from './payouts.ts';
import { getPix, getReturn, listPix, putReturn } from './pix.ts';
import { deleteWebhook, getWebhook, listWebhooks, putWebhook } from './webhooks.ts';

export interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly operation: Exclude<Operation, 'token'>;
  readonly scope: string;
  readonly answer: (call: Call) => Answer | Promise<Answer>;
}

/** Standard routes work with and without the prefix `/v2`, because institutions differ in the base URL. */
const standard = (path: string): RegExp => new RegExp(`^(?:/v2)?${path.replaceAll('*', '([^/]+)')}/?$`);
const efi = (path: string): RegExp => new RegExp(`^${path.replaceAll('*', '([^/]+)')}/?$`);

const route = (
  method: string,
  path: RegExp,
  operation: Route['operation'],
  scope: string,
  answer: Route['answer'],
): Route => ({ method, path, operation, scope, answer });

/** The scopes of Pix-out are Efí’s (https://dev.efipay.com.br/docs/api-pix/envio-pagamento-pix/). */
export const ROUTES: readonly Route[] = [
  route('PUT', standard('/cob/*'), 'charge.create', 'cob.write', putCharge),
  route('POST', standard('/cob'), 'charge.create', 'cob.write', postCharge),
  route('PATCH', standard('/cob/*'), 'charge.change', 'cob.write', patchCharge),
  route('GET', standard('/cob/*'), 'charge.read', 'cob.read', getCharge),
  route('GET', standard('/cob'), 'charge.list', 'cob.read', listCharges),
  route('GET', standard('/pix/*'), 'pix.read', 'pix.read', getPix),
  route('GET', standard('/pix'), 'pix.list', 'pix.read', listPix),
  route('PUT', standard('/pix/*/devolucao/*'), 'return.create', 'pix.write', putReturn),
  route('GET', standard('/pix/*/devolucao/*'), 'return.read', 'pix.read', getReturn),
  route('PUT', standard('/webhook/*'), 'webhook.register', 'webhook.write', putWebhook),
  route('GET', standard('/webhook/*'), 'webhook.read', 'webhook.read', getWebhook),
  route('DELETE', standard('/webhook/*'), 'webhook.delete', 'webhook.write', deleteWebhook),
  route('GET', standard('/webhook'), 'webhook.list', 'webhook.read', listWebhooks),
  route('PUT', efi('/v[23]/gn/pix/*'), 'payout.create', 'pix.send', putPayout),
  route('GET', efi('/v2/gn/pix/enviados/id-envio/*'), 'payout.read', 'gn.pix.send.read', getPayout),
  route('GET', efi('/v2/gn/pix/enviados/*'), 'payout.read', 'gn.pix.send.read', getPayoutByEndToEndId),
  route('GET', efi('/v2/gn/pix/enviados'), 'payout.list', 'gn.pix.send.read', listPayouts),
  route('GET', efi('/v2/gn/saldo'), 'balance.read', 'gn.balance.read', getBalance),
];
export const SCOPES: readonly string[] = [...new Set(ROUTES.map(({ scope }) => scope))];

// The JSON of provider connections, for operators.
import { ACCOUNT } from '../../../domain/account/account.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import * as s from '../../kernel/jsonSchema.ts';

const methods = s.oneOfTexts(['PIX']);
const CIRCUITS = ['closed', 'open', 'halfOpen'] as const;
const PEM_LENGTH_MAX = 20_000;

const connectionId = s.id(PROVIDER_CONNECTION.idPrefix);

export const connectionSchema = s.exactly({
  id: connectionId,
  status: s.described(
    '`enabled` takes new payments. `draining` takes no new ones; everything else continues. `disabled` makes no calls at all; its payments wait.',
    s.oneOfTexts(['enabled', 'draining', 'disabled', 'removed']),
  ),
  kind: s.string(),
  preset: s.described('The institution’s preset.', s.string()),
  name: s.string(),
  baseUrl: s.string(),
  tokenUrl: s.string(),
  clientId: s.string(),
  pixKey: s.described('The receiver’s Pix key.', s.string()),
  accountId: s.described('The only account that may use it; null: all accounts.', s.orNull(s.id(ACCOUNT.idPrefix))),
  methods: s.listOf(s.oneOfTexts(['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'])),
  order: s.described('Connections with a lower order are tried first.', s.anyInteger),
  requireClientCertificate: s.described(
    'Whether callbacks must come with a client certificate, which a proxy in front of Quita checks.',
    s.boolean,
  ),
  allowPrivate: s.described('Whether private addresses and plain http are allowed. Never in production.', s.boolean),
  certificate: s.described(
    'The client certificate; null without one. `daysLeft` is negative once it has expired.',
    s.orNull(s.exactly({ expiresAt: s.timestamp, daysLeft: s.anyInteger })),
  ),
  hasCa: s.described('Whether it trusts certificate authorities of its own.', s.boolean),
  circuit: s.described('The worst state of its circuit breakers among all processes.', s.oneOfTexts(CIRCUITS)),
  openPayments: s.described('Payments that are not final.', s.anyInteger),
  openPayouts: s.described('Payouts that are not final.', s.anyInteger),
  previousCallbackUntil: s.described(
    'Until when the callback URL before the last rotation works; null without a previous one.',
    s.orNull(s.timestamp),
  ),
  addedAt: s.timestamp,
  changedAt: s.timestamp,
});

const settings = {
  name: s.described('A name for operators.', s.string(200)),
  baseUrl: s.described('The base URL of the institution’s API.', s.string(500)),
  tokenUrl: s.described('The URL that issues access tokens.', s.string(500)),
  clientId: s.string(500),
  pixKey: s.described('The receiver’s Pix key.', s.string(100)),
};
const certificate = s.described('The client certificate for mTLS in PEM, with its chain.', s.string(PEM_LENGTH_MAX));
const privateKey = s.described('The private key of the certificate in PEM. Stored sealed.', s.string(PEM_LENGTH_MAX));
const ca = s.described(
  'The certificate authorities that the institution’s certificate must come from, in PEM.',
  s.string(PEM_LENGTH_MAX),
);
const more = {
  methods: s.optional(s.listOf(methods, { minItems: 1, maxItems: 1 })),
  order: s.optional(s.integer(0, 1_000_000, 'Connections with a lower order are tried first. Default: 0.')),
  requireClientCertificate: s.optional(s.boolean),
  allowPrivate: s.optional(s.boolean),
};

export const clientSecret = s.described(
  'The client secret that the institution issued. Stored sealed.',
  s.string(4_096),
);

export const addConnectionBody = s.accepting({
  preset: s.described('The institution’s preset, such as `generic` or `efi`.', s.string(50)),
  ...settings,
  clientSecret,
  certificate: s.optional(certificate),
  privateKey: s.optional(privateKey),
  ca: s.optional(ca),
  accountId: s.optional(
    s.described('The only account that may use it. Default: all accounts.', s.id(ACCOUNT.idPrefix)),
  ),
  ...more,
});

export const changeConnectionBody = s.accepting({
  name: s.optional(settings.name),
  baseUrl: s.optional(settings.baseUrl),
  tokenUrl: s.optional(settings.tokenUrl),
  clientId: s.optional(settings.clientId),
  pixKey: s.optional(settings.pixKey),
  certificate: s.optional(s.orNull(certificate)),
  privateKey: s.optional(privateKey),
  ca: s.optional(s.orNull(ca)),
  accountId: s.optional(s.orNull(s.id(ACCOUNT.idPrefix))),
  ...more,
});

export const addedSchema = s.exactly({
  id: connectionId,
  callbackUrl: s.described('The URL for callbacks. It contains a secret and is shown only once.', s.string()),
});

export const rotatedSchema = s.exactly({
  callbackUrl: addedSchema.properties.callbackUrl,
  previousUntil: s.described('Until when the previous URL works.', s.timestamp),
});

export const checkSchema = s.exactly({
  ok: s.described('Whether all steps succeeded.', s.boolean),
  steps: s.listOf(s.exactly({ name: s.string(), ok: s.boolean, detail: s.string() })),
});

export const webhookSchema = s.exactly({
  url: s.described(
    'The URL registered at the institution, without its last part; null if no URL is registered.',
    s.orNull(s.string()),
  ),
  isCurrent: s.described('Whether it is the connection’s current callback URL.', s.boolean),
});

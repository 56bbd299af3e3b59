// The JSON of provider connections, for operators.
import { ACCOUNT } from '../../../domain/account/account.ts';
import { PROVIDER_CONNECTION } from '../../../domain/providerConnection/aggregate.ts';
import {
  accepting,
  anyInteger,
  boolean,
  described,
  exactly,
  id,
  integer,
  listOf,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';

const methods = oneOfTexts(['PIX']);
const CIRCUITS = ['closed', 'open', 'halfOpen'] as const;
const PEM_LENGTH_MAX = 20_000;

const connectionId = id(PROVIDER_CONNECTION.idPrefix);

export const connectionSchema = exactly({
  id: connectionId,
  status: described(
    '`enabled` takes new payments. `draining` takes no new ones; everything else continues. `disabled` makes no calls at all; its payments wait.',
    oneOfTexts(['enabled', 'draining', 'disabled', 'removed']),
  ),
  kind: string(),
  preset: described('The institution’s preset.', string()),
  name: string(),
  baseUrl: string(),
  tokenUrl: string(),
  clientId: string(),
  pixKey: described('The receiver’s Pix key.', string()),
  accountId: described('The only account that may use it; null: all accounts.', orNull(id(ACCOUNT.idPrefix))),
  methods: listOf(oneOfTexts(['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'])),
  order: described('Connections with a lower order are tried first.', anyInteger),
  requireClientCertificate: described(
    'Whether callbacks must come with a client certificate, which a proxy in front of Quita checks.',
    boolean,
  ),
  allowPrivate: described('Whether private addresses and plain http are allowed. Never in production.', boolean),
  certificate: described(
    'The client certificate; null without one. `daysLeft` is negative once it has expired.',
    orNull(exactly({ expiresAt: timestamp, daysLeft: anyInteger })),
  ),
  hasCa: described('Whether it trusts certificate authorities of its own.', boolean),
  circuit: described('The worst state of its circuit breakers among all processes.', oneOfTexts(CIRCUITS)),
  openPayments: described('Payments that are not final.', anyInteger),
  openPayouts: described('Payouts that are not final.', anyInteger),
  previousCallbackUntil: described(
    'Until when the callback URL before the last rotation works; null without a previous one.',
    orNull(timestamp),
  ),
  addedAt: timestamp,
  changedAt: timestamp,
});

const settings = {
  name: described('A name for operators.', string(200)),
  baseUrl: described('The base URL of the institution’s API.', string(500)),
  tokenUrl: described('The URL that issues access tokens.', string(500)),
  clientId: string(500),
  pixKey: described('The receiver’s Pix key.', string(100)),
};
const certificate = described('The client certificate for mTLS in PEM, with its chain.', string(PEM_LENGTH_MAX));
const privateKey = described('The private key of the certificate in PEM. Stored sealed.', string(PEM_LENGTH_MAX));
const ca = described(
  'The certificate authorities that the institution’s certificate must come from, in PEM.',
  string(PEM_LENGTH_MAX),
);
const more = {
  methods: optional(listOf(methods, { minItems: 1, maxItems: 1 })),
  order: optional(integer(0, 1_000_000, 'Connections with a lower order are tried first. Default: 0.')),
  requireClientCertificate: optional(boolean),
  allowPrivate: optional(boolean),
};

export const clientSecret = described('The client secret that the institution issued. Stored sealed.', string(4_096));

export const addConnectionBody = accepting({
  preset: described('The institution’s preset, such as `generic` or `efi`.', string(50)),
  ...settings,
  clientSecret,
  certificate: optional(certificate),
  privateKey: optional(privateKey),
  ca: optional(ca),
  accountId: optional(described('The only account that may use it. Default: all accounts.', id(ACCOUNT.idPrefix))),
  ...more,
});

export const changeConnectionBody = accepting({
  name: optional(settings.name),
  baseUrl: optional(settings.baseUrl),
  tokenUrl: optional(settings.tokenUrl),
  clientId: optional(settings.clientId),
  pixKey: optional(settings.pixKey),
  certificate: optional(orNull(certificate)),
  privateKey: optional(privateKey),
  ca: optional(orNull(ca)),
  accountId: optional(orNull(id(ACCOUNT.idPrefix))),
  ...more,
});

export const addedSchema = exactly({
  id: connectionId,
  callbackUrl: described('The URL for callbacks. It contains a secret and is shown only once.', string()),
});

export const rotatedSchema = exactly({
  callbackUrl: addedSchema.properties.callbackUrl,
  previousUntil: described('Until when the previous URL works.', timestamp),
});

export const checkSchema = exactly({
  ok: described('Whether all steps succeeded.', boolean),
  steps: listOf(exactly({ name: string(), ok: boolean, detail: string() })),
});

export const webhookSchema = exactly({
  url: described(
    'The URL registered at the institution, without its last part; null if no URL is registered.',
    orNull(string()),
  ),
  isCurrent: described('Whether it is the connection’s current callback URL.', boolean),
});

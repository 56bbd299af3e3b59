// The standard itself: central bank, API Pix 2.9.0. The base URL includes the version, such as https://pix.example.com/api/v2.
import type { Preset } from './preset.ts';

// API Pix 2.9.0, components.securitySchemes.OAuth2.flows.clientCredentials.scopes.
export const STANDARD_SCOPES = {
  collect: ['cob.read', 'cob.write', 'pix.read', 'pix.write'],
  webhook: ['webhook.read', 'webhook.write'],
};

export const generic: Preset = {
  name: 'generic',
  pathOf: (path) => path,
  // RFC 6749 §2.3.1: servers must support Basic authentication of clients.
  token: { credentials: 'basic', body: 'form' },
  headers: () => ({}),
  scopes: STANDARD_SCOPES,
  neededScopes: STANDARD_SCOPES,
  txidParameter: 'txid',
  // The standard removed `pagador` from the Pix in 2.1; many institutions still send it (pix.md).
  payerAt: [['pagador']],
  absentCodes: [],
  webhookHeaders: () => ({}),
  payout: null,
};

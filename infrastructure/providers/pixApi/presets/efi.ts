// Efí (formerly Gerencianet). Sources: the pages of https://dev.efipay.com.br/docs/api-pix/ (text as stored in the repository
// mpaivaana/error-report, docs/api-pix), and src/constants/endpoints.ts of the official SDK efipay/sdk-node-apis-efi.
import { STANDARD_SCOPES } from './generic.ts';
import type { Preset } from './preset.ts';

export const efi: Preset = {
  name: 'efi',
  // Page cobrancas-imediatas: PUT /v2/cob/:txid. The base URL is https://pix.api.efipay.com.br (page credenciais).
  pathOf: (path) => `/v2${path}`,
  // Page credenciais: Basic authentication with Client_Id and Client_Secret, JSON body {"grant_type": "client_credentials"}.
  token: { credentials: 'basic', body: 'json' },
  headers: () => ({}),
  // Page credenciais: scopes are enabled per application, and the token has all of them. The request names none.
  scopes: { collect: [], webhook: [] },
  neededScopes: STANDARD_SCOPES,
  txidParameter: 'txid',
  // Page webhooks: `gnExtras.pagador` in callbacks; page gestao-de-pix shows `gnExtras` in GET /v2/pix/:e2eId.
  payerAt: [['gnExtras', 'pagador'], ['pagador']],
  // Pages cobrancas-imediatas and gestao-de-pix list these as answers with status 400.
  absentCodes: ['cobranca_nao_encontrada', 'pix_nao_encontrado', 'devolucao_nao_encontrada'],
  // Page webhooks, "Skip-mTLS": without it, Efí first calls without a certificate and expects to be rejected.
  webhookHeaders: ({ requireClientCertificate }) => ({ 'x-skip-mtls-checking': String(!requireClientCertificate) }),
  // SDK: pixSend, pixSendDetailId and pixSendList; page envio-pagamento-pix has the bodies and the scopes.
  payout: {
    scopes: [],
    neededScopes: ['pix.send', 'gn.pix.send.read'],
    pay: (id) => `/v3/gn/pix/${id}`,
    find: (id) => `/v2/gn/pix/enviados/id-envio/${id}`,
    list: '/v2/gn/pix/enviados',
  },
};

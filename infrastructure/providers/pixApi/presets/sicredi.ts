// Sicredi. Source: the repository laddertech/pypix-api, pypix_api/banks/sicredi.py (82ed359f) and its feasibility report, which quotes
// the institution's "Guia técnico de integrações API Pix" 1.9.5.
import { generic } from './generic.ts';
import type { Preset } from './preset.ts';

export const sicredi: Preset = {
  ...generic,
  name: 'sicredi',
  // The version depends on the resource: cob/{txid} is v3, pix and webhook are v2.
  pathOf: (path) => `/api/${path.startsWith('/cob/') ? 'v3' : 'v2'}${path}`,
  // Basic authentication with a form, as in the guide's example.
  token: { credentials: 'basic', body: 'form' },
};

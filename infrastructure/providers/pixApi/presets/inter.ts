// Banco Inter. Source: the official SDK inter-co/pj-sdk-python (commit 3504130c), files named below.
import { generic, STANDARD_SCOPES } from './generic.ts';
import type { Preset } from './preset.ts';

export const inter: Preset = {
  ...generic,
  name: 'inter',
  // commons/structures/Constants.py: URL_PIX is /pix/v2, URL_TOKEN is /oauth/v2/token.
  pathOf: (path) => `/pix/v2${path}`,
  // commons/utils/TokenUtils.py: a form with client_id, client_secret, grant_type and scope; no Basic authentication.
  token: { credentials: 'body', body: 'form' },
  // Constants.py names the scopes as the standard does.
  scopes: STANDARD_SCOPES,
  neededScopes: STANDARD_SCOPES,
  // pix/pix/PixClient.py, add_filters.
  txidParameter: 'txId',
};

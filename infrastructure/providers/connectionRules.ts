// Checks an operator's input for a connection: URLs, certificates, and the addresses that Quita may connect to.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { ConnectionRules } from '../../application/ports/connectionWork.ts';
import { fromMillis, type Timestamp } from '../../domain/kernel/time.ts';
import type { ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import { type SettingProblem, settingProblem } from '../../domain/providerConnection/settingProblems.ts';
import { mayDial } from '../webhookSender/addressPolicy.ts';

/** Certificates are in events, which stay below 32 kB. */
const PEM_LENGTH_MAX = 20_000;
const URL_LENGTH_MAX = 500;
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Returns the certificates of a PEM text, the first one first. Throws if one of them is invalid. */
const certificatesOf = (pem: string): readonly X509Certificate[] =>
  (pem.match(CERTIFICATES) ?? []).map((one) => new X509Certificate(one));

const parsed = <T>(parse: () => T): T | null => {
  try {
    return parse();
  } catch {
    return null;
  }
};

const urlProblem = (text: string, allowPrivate: boolean): string | null => {
  const url = URL.canParse(text) && text.length <= URL_LENGTH_MAX ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an https URL';
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return 'must have no user, query or fragment';
  if (url.protocol === 'http:' && !allowPrivate) return 'must use https; plain http needs allowPrivate';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isLocal = host === 'localhost' || host.endsWith('.localhost');
  const isReachable = isIP(host) === 0 ? !isLocal || allowPrivate : mayDial(host, allowPrivate);
  if (isReachable) return null;
  return allowPrivate
    ? 'names an address that Quita never connects to'
    : 'names a private address, which needs allowPrivate';
};

const certificateProblem = (
  { certificate, ca }: ConnectionTerms,
  privateKey: string | null,
  now: number,
): SettingProblem | null => {
  if ((certificate?.length ?? 0) + (ca?.length ?? 0) > PEM_LENGTH_MAX)
    return { param: 'certificate', message: `and ca together must have at most ${PEM_LENGTH_MAX} characters` };
  if (ca !== null && (parsed(() => certificatesOf(ca))?.length ?? 0) === 0)
    return { param: 'ca', message: 'must contain certificates in PEM' };
  if (certificate === null)
    return privateKey === null ? null : { param: 'certificate', message: 'is required with a private key' };
  if (privateKey === null) return { param: 'privateKey', message: 'is required with a certificate' };
  const first = parsed(() => certificatesOf(certificate))?.[0];
  if (first === undefined) return { param: 'certificate', message: 'must contain a certificate in PEM' };
  const key = parsed(() => createPrivateKey(privateKey));
  if (key === null) return { param: 'privateKey', message: 'must be an unencrypted private key in PEM' };
  if (!first.checkPrivateKey(key)) return { param: 'privateKey', message: 'does not belong to the certificate' };
  return first.validToDate.getTime() <= now ? { param: 'certificate', message: 'has expired' } : null;
};

/** Returns when the first certificate of a PEM text expires. */
export const expiryOf = (certificate: string): Timestamp =>
  fromMillis((certificatesOf(certificate)[0] as X509Certificate).validToDate.getTime());

export const connectionRules = (
  presets: readonly string[],
  { isProduction, now }: { readonly isProduction: boolean; readonly now: () => number },
): ConnectionRules => ({
  presets,
  expiryOf,
  judge: (terms, privateKey) => {
    if (!presets.includes(terms.preset)) return { param: 'preset', message: `must be one of ${presets.join(', ')}` };
    const problem = settingProblem(terms);
    if (problem !== null) return problem;
    if (terms.allowPrivate && isProduction) return { param: 'allowPrivate', message: 'is not allowed in production' };
    for (const param of ['baseUrl', 'tokenUrl'] as const) {
      const message = urlProblem(terms[param], terms.allowPrivate);
      if (message !== null) return { param, message };
    }
    return certificateProblem(terms, privateKey, now());
  },
});

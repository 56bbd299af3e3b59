// The rules for connections: URLs are protected against SSRF, and certificates must match their keys.
import { expect } from 'chai';
import type { ConnectionId } from '../../../domain/kernel/ids.ts';
import type { ConnectionTerms } from '../../../domain/providerConnection/connection.ts';
import { connectionRules, expiryOf } from '../../../infrastructure/providers/connectionRules.ts';
import { ELSEWHERE, EXPIRED, RECEIVER } from '../../support/tls/certificates.ts';
import { connectionTerms } from '../../world/fakeConnections.ts';

const now = () => Date.parse('2026-11-21T12:00:00.000Z');
const rules = (isProduction = false) => connectionRules(['generic', 'efi'], { isProduction, now });
const terms = (over: Partial<ConnectionTerms> = {}) =>
  connectionTerms('00000000000000000000000003' as ConnectionId, over);
const said = (over: Partial<ConnectionTerms>, privateKey: string | null = null, isProduction = false) => {
  const problem = rules(isProduction).judge(terms(over), privateKey);
  return problem && `${problem.param} ${problem.message}`;
};

describe('the rules for provider connections', () => {
  it('accept a public https URL', () => {
    expect(said({})).to.equal(null);
    expect(said({}, null, true)).to.equal(null);
  });

  const PRIVATE = [
    'http://bank.example',
    'https://127.0.0.1:9',
    'https://10.0.0.1',
    'https://[::1]',
    'https://localhost',
  ];
  for (const url of PRIVATE)
    it(`accept ${url} only if private addresses are allowed, outside production`, () => {
      for (const param of ['baseUrl', 'tokenUrl']) {
        expect(said({ [param]: url })).to.match(new RegExp(`^${param} (names a private address|must use https)`));
        expect(said({ [param]: url, allowPrivate: true })).to.equal(null);
        expect(said({ [param]: url, allowPrivate: true }, null, true)).to.equal(
          'allowPrivate is not allowed in production',
        );
      }
    });

  for (const url of ['https://169.254.169.254', 'https://224.0.0.1', 'https://[fe80::1]'])
    it(`never accept ${url}`, () => {
      expect(said({ baseUrl: url, allowPrivate: true })).to.equal(
        'baseUrl names an address that Quita never connects to',
      );
    });

  for (const url of ['', 'bank.example', 'ftp://bank.example', `https://${'b'.repeat(500)}.example`])
    it(`reject "${url.slice(0, 30)}" as a URL`, () => {
      expect(said({ baseUrl: url })).to.equal('baseUrl must be an https URL');
    });
  for (const url of ['https://user:word@bank.example', 'https://bank.example/?a=1', 'https://bank.example/#a'])
    it(`reject a user, query or fragment in the URL of an API: ${url}`, () => {
      expect(said({ tokenUrl: url })).to.equal('tokenUrl must have no user, query or fragment');
    });

  it('reject an unknown preset and name the known ones', () => {
    expect(said({ preset: 'banco' })).to.equal('preset must be one of generic, efi');
  });

  it('accept a certificate only with its own key and before it expires', () => {
    expect(said({ certificate: RECEIVER.cert }, RECEIVER.key)).to.equal(null);
    expect(said({ certificate: RECEIVER.cert })).to.equal('privateKey is required with a certificate');
    expect(said({}, RECEIVER.key)).to.equal('certificate is required with a private key');
    expect(said({ certificate: RECEIVER.cert }, ELSEWHERE.key)).to.equal(
      'privateKey does not belong to the certificate',
    );
    expect(said({ certificate: EXPIRED.cert }, EXPIRED.key)).to.equal('certificate has expired');
    expect(said({ certificate: 'x' }, RECEIVER.key)).to.equal('certificate must contain a certificate in PEM');
    expect(said({ certificate: RECEIVER.cert }, 'x')).to.equal('privateKey must be an unencrypted private key in PEM');
    expect(said({ ca: 'x' })).to.equal('ca must contain certificates in PEM');
    expect(said({ ca: RECEIVER.cert })).to.equal(null);
    expect(said({ ca: RECEIVER.cert.repeat(100) })).to.match(/^certificate and ca together/);
    expect(expiryOf(RECEIVER.cert)).to.match(/^21\d\d-/);
  });
});

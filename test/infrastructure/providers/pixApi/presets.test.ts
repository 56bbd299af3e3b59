// The requests of each preset: paths, authentication, scopes and headers. The presets name their sources.
import { expect } from 'chai';
import { PRESETS } from '../../../../infrastructure/providers/pixApi/pixApi.ts';
import { Institution } from './institution.ts';
import { type Opened, open, requestOf, SECRET, TENANT, TXID } from './support.ts';

const ID = 'E99999008202611240100abcdefghijk';
const BASIC = `Basic ${Buffer.from(`cliente:${SECRET}`).toString('base64')}`;
const SCOPE = 'cob.read cob.write pix.read pix.write';
const ERROR = { status: 400, title: 'Inválido' };

interface Asked {
  readonly token: { readonly authorization: string | undefined; readonly type: string; readonly fields: object };
  readonly paths: readonly string[];
  /** The query parameter that filters a list by txid. */
  readonly txidIn: string;
  readonly skipsMtls: unknown;
}

const FORM = 'application/x-www-form-urlencoded';
const EXPECTED: Readonly<Record<string, Asked>> = {
  generic: {
    token: { authorization: BASIC, type: FORM, fields: { grant_type: 'client_credentials', scope: SCOPE } },
    paths: [`/cob/${TXID}`, `/pix/${ID}`, `/pix/${ID}/devolucao/r1`, '/pix', '/webhook/a@b.example'],
    txidIn: 'txid',
    skipsMtls: undefined,
  },
  efi: {
    token: { authorization: BASIC, type: 'application/json', fields: { grant_type: 'client_credentials' } },
    paths: [`/v2/cob/${TXID}`, `/v2/pix/${ID}`, `/v2/pix/${ID}/devolucao/r1`, '/v2/pix', '/v2/webhook/a@b.example'],
    txidIn: 'txid',
    skipsMtls: 'true',
  },
  inter: {
    token: {
      authorization: undefined,
      type: FORM,
      fields: { grant_type: 'client_credentials', scope: SCOPE, client_id: 'cliente', client_secret: SECRET },
    },
    paths: [
      `/pix/v2/cob/${TXID}`,
      `/pix/v2/pix/${ID}`,
      `/pix/v2/pix/${ID}/devolucao/r1`,
      '/pix/v2/pix',
      '/pix/v2/webhook/a@b.example',
    ],
    txidIn: 'txId',
    skipsMtls: undefined,
  },
  sicredi: {
    token: { authorization: BASIC, type: FORM, fields: { grant_type: 'client_credentials', scope: SCOPE } },
    paths: [
      `/api/v3/cob/${TXID}`,
      `/api/v2/pix/${ID}`,
      `/api/v2/pix/${ID}/devolucao/r1`,
      '/api/v2/pix',
      '/api/v2/webhook/a@b.example',
    ],
    txidIn: 'txid',
    skipsMtls: undefined,
  },
};

describe('presets of the API Pix adapter', () => {
  let institution: Institution;
  let connection: Opened;
  beforeEach(async () => {
    institution = await Institution.open();
    institution.answer = () => ({ status: 400, body: ERROR });
  });
  afterEach(async () => {
    connection.close();
    await institution.close();
  });

  it('are all tested here', () => {
    connection = open(institution.terms);
    expect(Object.keys(EXPECTED).toSorted()).to.deep.equal(PRESETS.toSorted());
  });

  for (const [preset, expected] of Object.entries(EXPECTED))
    it(`${preset} sends requests in the form of its institution`, async () => {
      connection = open({ ...institution.terms, preset, pixKey: 'a@b.example' });
      const { provider } = connection;
      await provider.issue(requestOf());
      await provider.findPayment(TENANT, ID);
      const amount = requestOf().amount;
      const back = { method: 'PIX', providerPaymentId: ID, returnId: 'r1', amount, metadata: null } as const;
      await provider.returnPayment(TENANT, back);
      const pix = { txid: TXID, endToEndId: ID, paidAt: requestOf().createdAt, expectedTaxId: '99991111140' };
      await provider.checkPayer(TENANT, pix);
      const refusal = await connection.registerWebhook('https://quita.example/x').catch(({ message }) => message);
      expect(refusal).to.equal('Inválido');
      const [token] = institution.tokenRequests;
      const { requests } = institution;
      const type = token?.headers['content-type'] ?? '';
      const body = token?.body ?? '';
      const list = requests.find(({ query }) => query.has('inicio'));
      expect({
        token: {
          authorization: token?.headers.authorization,
          type,
          fields: type === FORM ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body),
        },
        paths: [...new Set(requests.map(({ path }) => decodeURIComponent(path)))],
        txidIn: [...(list?.query ?? [])].find(([, value]) => value === TXID)?.[0],
        skipsMtls: requests.at(-1)?.headers['x-skip-mtls-checking'],
      }).to.deep.equal(expected);
    });

  it('reject an unknown name', () => {
    connection = open(institution.terms);
    expect(() => open({ preset: 'itau' })).to.throw('There is no preset "itau".');
  });

  it('reject a certificate without a usable key, and show neither', () => {
    connection = open(institution.terms);
    const key = '-----BEGIN PRIVATE KEY-----\nsegredo\n-----END PRIVATE KEY-----';
    const message = 'The certificate, the private key or the authorities are not valid PEM, or do not match.';
    expect(() => open({ certificate: 'x' }, { privateKey: key })).to.throw(new RegExp(`^${message}$`));
  });
});

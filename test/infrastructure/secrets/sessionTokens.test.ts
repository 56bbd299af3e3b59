// Session tokens: accepted only if this deployment signed them for this purpose and they are valid now (rules D1, D2).
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import type { AccountId, PasswordId, SessionId, UserId } from '../../../domain/kernel/ids.ts';
import { SecretsKeyring } from '../../../infrastructure/secrets/keyring.ts';
import { sessionTokens } from '../../../infrastructure/secrets/sessionTokens.ts';
import { respelled } from '../../support/respelled.ts';

const [OLD, NEW, OTHER] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
const ISSUER = 'https://pay.quita.example';
const NOW = Date.UTC(2026, 10, 22, 12);
const SESSION = {
  sessionId: '00000000000000000000000001' as SessionId,
  userId: '00000000000000000000000002' as UserId,
  accountId: '00000000000000000000000003' as AccountId,
  passwordId: '00000000000000000000000004' as PasswordId,
  role: 'OWNER',
} as const;

const tokensOf = (keys: readonly [Buffer, ...Buffer[]], issuer = ISSUER, atMs = NOW) =>
  sessionTokens(new SecretsKeyring(keys), issuer, { now: () => atMs });
const OURS = tokensOf([OLD]);
const KID = new SecretsKeyring([OLD]).sealingId;
const KEY = new SecretsKeyring([OLD]).keyFor('session tokens', KID) as Buffer;

const partOf = (token: string, index: number): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as Record<string, unknown>;
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const CLAIMS = {
  iss: ISSUER,
  aud: 'quita dashboard',
  sub: 'usr_00000000000000000000000002',
  iat: NOW / 1000,
  nbf: NOW / 1000,
  exp: NOW / 1000 + 3600,
  jti: SESSION.sessionId,
  account: 'acct_00000000000000000000000003',
  role: 'OWNER',
};
const HEADER = { alg: 'HS256', typ: 'JWT', kid: KID };
const signed = (claims: object = {}, header: object = {}, key: Uint8Array = KEY): Promise<string> =>
  new SignJWT({ ...CLAIMS, ...claims }).setProtectedHeader({ ...HEADER, ...header }).sign(key);
/** Signs with HS256 directly, for headers that the library would reject. */
const signedByHand = (header: object, key: string | Uint8Array = KEY): string => {
  const text = `${encoded(header)}.${encoded(CLAIMS)}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
};

describe('session tokens', () => {
  it('contain the issuer, audience, user, account, role and times, and identify the session', async () => {
    const token = await OURS.issue(SESSION, 3_600);
    expect(partOf(token, 0)).to.deep.equal(HEADER);
    expect(partOf(token, 1)).to.deep.equal(CLAIMS);
    expect(await OURS.read(token)).to.equal(SESSION.sessionId);
  });
  it('of an operator contain no account', async () => {
    const token = await OURS.issue({ ...SESSION, accountId: null, role: 'OPERATOR' }, 3_600);
    expect([partOf(token, 1)['account'], partOf(token, 1)['role']]).to.deep.equal([null, 'OPERATOR']);
    expect(await OURS.read(token)).to.equal(SESSION.sessionId);
  });
  it('built by these helpers are accepted, so the tests below fail only for their own reason', async () => {
    expect(await OURS.read(await signed())).to.equal(SESSION.sessionId);
    expect(await OURS.read(signedByHand(HEADER))).to.equal(SESSION.sessionId);
  });
  it('stay valid during a rotation of SECRETS_KEY, and become invalid without the key that signed them', async () => {
    const token = await OURS.issue(SESSION, 3_600);
    expect(await tokensOf([NEW, OLD]).read(token)).to.equal(SESSION.sessionId);
    const next = await tokensOf([NEW, OLD]).issue(SESSION, 3_600);
    expect(partOf(next, 0)['kid']).to.equal(new SecretsKeyring([NEW]).sealingId);
    expect(await tokensOf([OLD, NEW]).read(next)).to.equal(SESSION.sessionId);
    expect(await OURS.read(next)).to.equal(null);
    expect(await tokensOf([NEW]).read(token)).to.equal(null);
  });
  it('are valid from their start to their end, with a tolerance of 30 s', async () => {
    const token = await OURS.issue(SESSION, 3_600);
    const at = (seconds: number) => tokensOf([OLD], ISSUER, NOW + seconds * 1000).read(token);
    expect(await Promise.all([-31, -30, 0, 3_600, 3_629, 3_630].map(at))).to.deep.equal([
      ...[null, SESSION.sessionId, SESSION.sessionId, SESSION.sessionId, SESSION.sessionId, null],
    ]);
  });

  const FORGED: { readonly [name: string]: () => Promise<string> | string } = {
    'alg none': () => new UnsecuredJWT(CLAIMS).encode(),
    'alg none, with our kid': () => `${encoded({ ...HEADER, alg: 'none' })}.${encoded(CLAIMS)}.`,
    'alg None': () => `${encoded({ ...HEADER, alg: 'None' })}.${encoded(CLAIMS)}.`,
    'another algorithm of the same key': () => signed({}, { alg: 'HS512' }),
    'the algorithm in lower case': () => signedByHand({ ...HEADER, alg: 'hs256' }),
    'no algorithm': () => signedByHand({ typ: 'JWT', kid: KID }),
    'an asymmetric algorithm': async () => {
      const { privateKey } = await generateKeyPair('EdDSA');
      return new SignJWT(CLAIMS).setProtectedHeader({ ...HEADER, alg: 'EdDSA' }).sign(privateKey);
    },
    'a public key as the secret': async () => {
      const { publicKey } = await generateKeyPair('RS256', { extractable: true });
      return signedByHand(HEADER, await exportSPKI(publicKey));
    },
    'another secrets key': () => tokensOf([OTHER]).issue(SESSION, 3_600),
    'another secrets key with our kid': () => signedByHand(HEADER, OTHER),
    'the secrets key itself': () => signedByHand(HEADER, OLD),
    'the key for another purpose': () =>
      signedByHand(HEADER, new SecretsKeyring([OLD]).keyFor('login failures', KID) as Buffer),
    'an empty key': () => signedByHand(HEADER, ''),
    'no kid': () => signedByHand({ alg: 'HS256', typ: 'JWT' }),
    'an unknown kid': () => signed({}, { kid: '0123456789abcdef' }),
    'a file path as kid': () => signed({}, { kid: '../../dev/null' }),
    'a key in its own header': () =>
      signedByHand({ ...HEADER, kid: undefined, jwk: { kty: 'oct', k: OTHER.toString('base64url') } }, OTHER),
    'an unknown critical header': () => signedByHand({ ...HEADER, crit: ['exp'], exp: 1 }),
    'another type': () => signed({}, { typ: 'at+jwt' }),
    'changed claims': async () => {
      const [header, , signature] = (await signed()).split('.');
      return `${header}.${encoded({ ...CLAIMS, role: 'OPERATOR' })}.${signature}`;
    },
    'a changed signature': async () => {
      const token = await signed();
      return token.slice(0, -2) + (token.endsWith('AA') ? 'BB' : 'AA');
    },
    'another encoding of its signature': async () => respelled(await signed()),
    'no signature': async () => `${(await signed()).split('.').slice(0, 2).join('.')}.`,
    'two parts': async () => (await signed()).split('.').slice(0, 2).join('.'),
    'four parts': async () => `${await signed()}.x`,
    'an encrypted token': () => 'a.b.c.d.e',
    expired: () => signed({ exp: NOW / 1000 - 31 }),
    'not yet valid': () => signed({ nbf: NOW / 1000 + 31 }),
    'for another audience': () => signed({ aud: 'quita api' }),
    'of another issuer': () => tokensOf([OLD], 'https://elsewhere.example').issue(SESSION, 3_600),
    'without an expiry': () => signed({ exp: undefined }),
    'without a start': () => signed({ nbf: undefined }),
    'without an audience': () => signed({ aud: undefined }),
    'without an issuer': () => signed({ iss: undefined }),
    'without a subject': () => signed({ sub: undefined }),
    'without a session': () => signed({ jti: undefined }),
    'with a session that is not an id': () => signed({ jti: "' OR 1=1" }),
    'with a session of another type': () => signed({ jti: 1 }),
    'with a string as expiry': () => signed({ exp: '9999999999' }),
    'an array of claims': () => {
      const text = `${encoded(HEADER)}.${encoded([CLAIMS])}`;
      return `${text}.${createHmac('sha256', KEY).update(text).digest('base64url')}`;
    },
    'a header that is not JSON': () => `e.${encoded(CLAIMS)}.x`,
    nothing: () => '',
    dots: () => '..',
  };
  for (const [name, forge] of Object.entries(FORGED))
    it(`are rejected: ${name}`, async () => expect(await OURS.read(await forge())).to.equal(null));
});

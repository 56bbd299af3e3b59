// verifyWebhook from a merchant’s view: what it returns and throws, and that no changed byte passes (rule W1).
import { expect } from 'chai';
import fc from 'fast-check';
import { signatureHeaders } from '../../application/webhooks/webhookSignature.ts';
import { verifyWebhook, WebhookVerificationError } from '../../docs/receivers/verifyWebhook.mjs';

const SECRET = '0f6c1d0c54f7a4f0c2f2f8dbb1a9f2f0a3b4c5d6e7f8091a2b3c4d5e6f708192';
const OLD = SECRET.replaceAll('0', '1');
const EVENT_ID = '5t1q8d0n4r7k2x9c6v3b1m8z0h';
const AT = new Date('2026-11-21T13:00:00.000Z');
const later = (seconds: number) => ({ now: new Date(AT.getTime() + seconds * 1_000) });
const BODIES = {
  canonical: JSON.stringify({ id: `evt_${EVENT_ID}`, type: 'charge.paid', data: { object: { amount: 1 } } }),
  legacy: JSON.stringify({ event: 'payment.completed', data: { amount: 1, note: 'ação 😀' } }),
} as const;
type Family = keyof typeof BODIES;
const FAMILIES: readonly (readonly [Family, string])[] = [
  ['canonical', 'charge.paid'],
  ['legacy', 'payment.completed'],
];
const headersOf = (family: Family, secret = SECRET, body: string = BODIES[family]) =>
  signatureHeaders({ secret, body, family, id: `evt_${EVENT_ID}`, atMs: AT.getTime() });

const codeOf = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
  return 'verified';
};

describe('verifyWebhook', () => {
  for (const [family, type] of FAMILIES) {
    const body = BODIES[family];
    const headers = headersOf(family);
    const verified = { id: `evt_${EVENT_ID}`, type, sentAt: AT, payload: JSON.parse(body) as unknown };

    describe(`with the ${family} family`, () => {
      it('returns the event, from bytes or text, for any spelling and container of the headers', () => {
        const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
        for (const spelled of [
          headers,
          upper,
          new Headers(headers),
          { ...headers, other: ['a', 'b'], none: undefined },
        ])
          for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body)])
            expect(verifyWebhook(SECRET, spelled, raw, later(0))).to.deep.equal(verified);
      });

      it('accepts the old and new secret of a rotation in either order, and no unlisted secret', () => {
        for (const secrets of [[SECRET, OLD], [OLD, SECRET], [SECRET]])
          expect(verifyWebhook(secrets, headers, body, later(0))).to.deep.equal(verified);
        expect(codeOf(() => verifyWebhook([OLD], headers, body, later(0)))).to.equal('wrong_signature');
        expect(codeOf(() => verifyWebhook(OLD, headers, body, later(0)))).to.equal('wrong_signature');
      });

      it('accepts signatures up to 300 s old or ahead', () => {
        for (const [seconds, code] of [
          [300, 'verified'],
          [301, 'outside_tolerance'],
          [-300, 'verified'],
          [-301, 'outside_tolerance'],
        ] as const)
          expect(codeOf(() => verifyWebhook(SECRET, headers, body, later(seconds)))).to.equal(code);
        expect(codeOf(() => verifyWebhook(SECRET, headers, body))).to.equal('outside_tolerance'); // by the system clock
      });

      it('reports a wrong secret before an old time, and a malformed body last', () => {
        expect(codeOf(() => verifyWebhook(OLD, headers, body, later(999)))).to.equal('wrong_signature');
        for (const odd of ['', '{', 'null', '[]', '{"id":1,"type":"x"}', '{"event":1}', '{"id":null,"event":"x"}'])
          expect(codeOf(() => verifyWebhook(SECRET, headersOf(family, SECRET, odd), odd, later(0)))).to.equal(
            'malformed_body',
          );
      });

      it('rejects any changed byte in the body or signature', () => {
        const bytes = Buffer.from(body);
        fc.assert(
          fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
            const changed = Buffer.from(bytes);
            changed[at] = changed[at]! ^ change;
            expect(codeOf(() => verifyWebhook(SECRET, headers, changed, later(0)))).to.equal('wrong_signature');
          }),
        );
        const acme = headers['x-acme-signature']!;
        for (let at = acme.length - 64; at < acme.length; at++) {
          const digit = ((Number.parseInt(acme[at]!, 16) + 1) % 16).toString(16);
          const changed = { ...headers, 'x-acme-signature': acme.slice(0, at) + digit + acme.slice(at + 1) };
          expect(codeOf(() => verifyWebhook(SECRET, changed, body, later(0)))).to.equal('wrong_signature');
        }
      });

      it('accepts Standard Webhooks headers alone, with several signatures in one', () => {
        const { 'x-acme-signature': _, ...standard } = headers;
        expect(verifyWebhook(SECRET, standard, body, later(0))).to.deep.equal(verified);
        const several = { ...standard, 'webhook-signature': `v1,AAAA v1a,x ${standard['webhook-signature']}` };
        expect(verifyWebhook(SECRET, several, body, later(0))).to.deep.equal(verified);
      });
    });
  }

  it('takes the id of a canonical event from its body, ignoring unsigned headers', () => {
    const forged = { ...headersOf('canonical'), 'webhook-id': 'evt_another' };
    expect(verifyWebhook(SECRET, forged, BODIES.canonical, later(0)).id).to.equal(`evt_${EVENT_ID}`);
  });

  it('rejects a legacy event unless the standard headers sign its id and time', () => {
    const headers = headersOf('legacy');
    const verify = (more: object) =>
      codeOf(() => verifyWebhook(SECRET, { ...headers, ...more }, BODIES.legacy, later(0)));
    expect(verify({ 'webhook-id': 'evt_another' })).to.equal('wrong_signature');
    expect(verify({ 'webhook-timestamp': String(AT.getTime() / 1_000 + 1) })).to.equal('wrong_signature');
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      expect(verify({ [name]: undefined }), name).to.equal('missing_signature');
  });

  it('distinguishes missing from malformed signatures', () => {
    const verify = (headers: object) => codeOf(() => verifyWebhook(SECRET, { ...headers }, BODIES.canonical, later(0)));
    expect(verify({})).to.equal('missing_signature');
    for (const acme of ['v1=ab', 't=1', 't=x,v1=00', 'sha256=', `sha256=${'g'.repeat(64)}`, `t=1,v1=${'0'.repeat(63)}`])
      expect(verify({ 'x-acme-signature': acme }), acme).to.equal('malformed_signature');
    expect(verify({ 'x-acme-signature': `t=${AT.getTime() / 1_000},v1=${'0'.repeat(64)}` })).to.equal(
      'wrong_signature',
    );
  });

  it('accepts no signature of one form in another form’s header', () => {
    // Each form signs another text. After a move, the body would have to begin with a prefix, and would not be JSON.
    const { 'x-acme-signature': acme = '' } = headersOf('canonical');
    const [, t = '', v1 = ''] = /^t=(\d+),v1=(.*)$/.exec(acme) ?? [];
    const moved = { ...headersOf('legacy', SECRET, `${t}.${BODIES.canonical}`), 'x-acme-signature': `sha256=${v1}` };
    expect(codeOf(() => verifyWebhook(SECRET, moved, `${t}.${BODIES.canonical}`, later(0)))).to.equal('malformed_body');
  });

  it('throws a TypeError for wrong arguments', () => {
    const headers = headersOf('canonical');
    const wrong = (secret: unknown, body: unknown) => () =>
      verifyWebhook(secret as string, headers, body as string, later(0));
    for (const secret of [undefined, null, '', [], [''], [undefined], 5])
      expect(wrong(secret, BODIES.canonical), String(secret)).to.throw(TypeError, /^secret must be/);
    for (const body of [undefined, null, JSON.parse(BODIES.canonical), 5])
      expect(wrong(SECRET, body), String(body)).to.throw(TypeError, /^rawBody must be the bytes/);
  });
});

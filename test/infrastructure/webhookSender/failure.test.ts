import { expect } from 'chai';
import fc from 'fast-check';
import {
  AttemptFailure,
  describeFailure,
  dialFailure,
  errorLine,
} from '../../../infrastructure/webhookSender/failure.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const coded = (code: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { code, ...more });

describe('errorLine', () => {
  it('is one line without control characters', () => {
    expect(errorLine('connection', ' a\r\nb\0\tc\u2028d\u0085e\u202Ef ')).to.equal('connection: a b c d e f');
  });

  it('is truncated to 300 characters, never within a character', () => {
    expect(errorLine('dns', 'x'.repeat(400))).to.equal(`dns: ${'x'.repeat(295)}`);
    expect(errorLine('dns', `${'x'.repeat(294)}😀`)).to.equal(`dns: ${'x'.repeat(294)}`);
    expect(errorLine('dns', `${'x'.repeat(293)}😀`)).to.equal(`dns: ${'x'.repeat(293)}😀`);
  });

  it('is clean for any detail', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 700, size: 'max' }), (detail) => {
        const line = errorLine('status', detail);
        expect(line.startsWith('status: ') && line.length <= 300 && line.isWellFormed()).to.equal(true);
        expect(line).to.not.match(/\p{Cc}/u);
      }),
    );
  });
});

describe('describeFailure', () => {
  const CASES: readonly (readonly [string, unknown, string])[] = [
    ['an AttemptFailure', new AttemptFailure('blocked', 'no way'), 'blocked: no way'],
    ['a socket error', coded('ECONNRESET', 'read ECONNRESET'), 'connection: read ECONNRESET'],
    [
      'a system error, without its addresses',
      coded('ENETUNREACH', 'connect ENETUNREACH 2001:db8::1:443 - Local (10.0.0.5:0)', { syscall: 'connect' }),
      'connection: connect ENETUNREACH',
    ],
    [
      'several system errors',
      new AggregateError([
        coded('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.5:1', { syscall: 'connect' }),
        coded('ETIMEDOUT', 'connect ETIMEDOUT 10.0.0.6:1', { syscall: 'connect' }),
      ]),
      'connection: connect ECONNREFUSED; connect ETIMEDOUT',
    ],
    [
      'an OpenSSL alert',
      coded('ERR_SSL_ALERT', '00:error:../x.c:1', { reason: 'alert bad certificate' }),
      'tls: ERR_SSL_ALERT, alert bad certificate',
    ],
    ['an error without message', coded('EPIPE', ''), 'connection: EPIPE'],
    ['a bare error', new RangeError(''), 'connection: RangeError'],
    ['several addresses', new AggregateError([new Error('a'), new Error('b'), new Error('a')]), 'connection: a; b'],
    ['a thrown string', 'text', 'connection: unknown error'],
    ['a thrown undefined', undefined, 'connection: unknown error'],
  ];
  for (const [name, thrown, line] of CASES) {
    it(`describes ${name}`, () => {
      expect(describeFailure(thrown)).to.equal(line);
    });
  }

  it('never shows a stack', () => {
    expect(describeFailure(new Error('boom'))).to.equal('connection: boom');
  });
});

describe('dialFailure', () => {
  it('reports handshake errors as TLS, but not a peer that hangs up', () => {
    const { kind, message } = dialFailure(coded('CERT_HAS_EXPIRED', 'certificate has expired'), true);
    expect([kind, message]).to.deep.equal(['tls', 'CERT_HAS_EXPIRED, certificate has expired']);
    expect(dialFailure(coded('ECONNRESET', 'hung up'), true).kind).to.equal('connection');
    expect(dialFailure(coded('ECONNREFUSED', 'refused'), false).kind).to.equal('connection');
  });

  it('returns a classified failure unchanged', () => {
    const failure = new AttemptFailure('dns', 'ENOTFOUND x');
    expect(dialFailure(failure, true)).to.equal(failure);
  });
});

// Strings that a database can’t store get a 400 with their param; all other strings are returned unchanged (rule I14).
import { expect } from 'chai';
import type { ErrorCode } from '../../../../domain/kernel/rejection.ts';
import { chargeSender, VALID } from '../../../world/chargeSender.ts';
import type { TestGateway } from '../../../world/gateway.ts';
import { openReady } from '../../../world/http.ts';

describe('strings of a charge', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await openReady();
  });
  after(() => gateway.close());
  afterEach(() => expect(gateway.faults).to.deep.equal([]));
  const { refuses, takes } = chargeSender(() => gateway);

  describe('with NUL or unpaired surrogates (I14)', () => {
    const bad = {
      NUL: '\\u0000',
      'high surrogate': '\\ud83d',
      'low surrogate': '\\uDE00',
      'swapped pair': '\\ude00\\ud83d',
    };
    const places: readonly (readonly [string, (text: string) => string, ErrorCode, string])[] = [
      ['description', (t) => `"description":"a${t}"`, 'invalid_description', 'description'],
      ['customer.name', (t) => `"customer":{"name":"${t}b"}`, 'invalid_customer', 'customer.name'],
      ['a customer’s unknown field', (t) => `"customer":{"nick":"${t}"}`, 'invalid_customer', 'customer.nick'],
      ['metadata value', (t) => `"metadata":{"a":"${t}"}`, 'invalid_metadata', 'metadata.a'],
      ['metadata, deeper', (t) => `"metadata":{"a":[0,{"b":["${t}"]}]}`, 'invalid_metadata', 'metadata.a.1.b.0'],
      ['metadata, reserved key', (t) => `"metadata":{"_a":"${t}"}`, 'invalid_metadata', 'metadata._a'],
      ['unknown field', (t) => `"zzz":{"q":"${t}"}`, 'invalid_request', 'zzz.q'],
      ['unknown field named constructor', (t) => `"constructor":"${t}"`, 'invalid_request', 'constructor'],
      ['unknown field named __proto__', (t) => `"__proto__":"${t}"`, 'invalid_request', '__proto__'],
      ['unknown field named toString', (t) => `"toString":["${t}"]`, 'invalid_request', 'toString.0'],
    ];
    for (const [what, text] of Object.entries(bad))
      for (const [place, inside, code, param] of places)
        it(`are rejected: ${what} in ${place}`, () =>
          refuses(`{"amount":5,"payment_method":"pix",${inside(text)}}`, code, param));
    it('are rejected in a key; the param omits or replaces the character', async () => {
      await refuses(
        '{"amount":5,"payment_method":"pix","metadata":{"a\\u0000b":1}}',
        'invalid_metadata',
        'metadata.ab',
      );
      await refuses(
        '{"amount":5,"payment_method":"pix","metadata":{"x":{"a\\ud800":1}}}',
        'invalid_metadata',
        'metadata.x.a\ufffd',
      );
      await refuses('{"amount":5,"payment_method":"pix","bad\\u0000":1}', 'invalid_request', 'bad');
    });
    it('are reported together', () =>
      refuses(
        '{"amount":5,"payment_method":"pix","description":"\\u0000","metadata":{"a":"\\ud800"}}',
        'invalid_request',
        undefined,
        ['metadata.a', 'description'],
      ));
    it('may contain pairs, escaped backslashes and other control characters', async () => {
      const { body } = await takes(
        '{"amount":5,"payment_method":"pix","description":"\\ud83d\\ude00","metadata":{"a":"\\\\u0000","b":"\\u0001\\u001f\\u007f\\ufffe\\uffff"}}',
      );
      expect(body['metadata']).to.deep.equal({ a: '\\u0000', b: '\u0001\u001f\u007f\ufffe\uffff', description: '😀' });
    });
    it('are returned unchanged when the charge is read', async () => {
      const text = '\u0001 "quoted" \\ \u2028 😀 </script>';
      const { body } = await takes({ ...VALID, description: text, customer: { name: text } });
      expect((await gateway.get(`/v1/charges/${body['id']}`)).body).to.deep.equal(body);
    });
  });
});

import { expect } from 'chai';
import { isEmailAddress } from '../../../domain/kernel/email.ts';

describe('isEmailAddress (RFC 5322 addr-spec)', () => {
  const label = 'd'.repeat(63);
  const good = [
    'a@b',
    'ana@example.com',
    'Ana.Souza+tag@sub.example.com.br',
    "!#$%&'*+/=?^_`{|}~-@x.co",
    '"ana souza"@example.com',
    '"a@b"@example.com',
    '"\\"quoted\\" \\\\"@example.com',
    '""@example.com',
    'a@1.2',
    'a@xn--e1afmkfd.xn--p1ai',
    'a@[192.0.2.1]',
    'a@[IPv6:2001:db8::1]',
    `${'l'.repeat(64)}@x.co`,
    `a@${label}.${label}.${label}.${'d'.repeat(60)}`, // 254 characters
  ];
  const bad = [
    '',
    '@',
    'a',
    'a@',
    '@b',
    'a@b@c',
    'a b@c',
    'a@b c',
    ' a@b',
    'a@b ',
    'a@b\n',
    '\ta@b',
    '.a@b',
    'a.@b',
    'a..b@c',
    'a@.b',
    'a@b.',
    'a@b..c',
    'a@-b',
    'a@b-',
    'a@b_c',
    'a@b,c',
    'a,b@c',
    'a(comment)@b',
    'Ana <a@b>',
    '"a@b',
    '"a"b"@c',
    '"a\\"@c',
    '"a\n"@c',
    'a@[',
    'a@[]',
    'a@[1]2]',
    'é@b',
    'a@é',
    `${'l'.repeat(65)}@x.co`,
    `a@${'d'.repeat(64)}`,
    `a@${label}.${label}.${label}.${'d'.repeat(61)}`, // 255 characters
  ];
  for (const text of good)
    it(`accepts ${JSON.stringify(text).slice(0, 60)}`, () => expect(isEmailAddress(text)).to.equal(true));
  for (const text of bad)
    it(`rejects ${JSON.stringify(text).slice(0, 60)}`, () => expect(isEmailAddress(text)).to.equal(false));
  it('rejects hostile text quickly', () => {
    expect(isEmailAddress(`${'a.'.repeat(100_000)}@b`)).to.equal(false);
    expect(isEmailAddress(`a@${'a.'.repeat(120)}-`)).to.equal(false);
    expect(isEmailAddress(`"${'\\'.repeat(60)}@b`)).to.equal(false);
  });
});

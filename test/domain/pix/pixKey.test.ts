import { expect } from 'chai';
import fc from 'fast-check';
import { isPixKey, type PixKeyKind, pixKeyKind } from '../../../domain/pix/pixKey.ts';

const LONGEST_EMAIL = `${'a'.repeat(65)}@example.com`;
const UUID = '123e4567-e89b-12d3-a456-426655440000';

describe('pixKeyKind', () => {
  const good: readonly (readonly [string, PixKeyKind])[] = [
    ['99991111140', 'tax_id'],
    ['12345678909', 'tax_id'],
    ['11222333000181', 'tax_id'],
    ['12ABC34501DE35', 'tax_id'],
    ['+5511987654321', 'phone'],
    ['+551132654321', 'phone'],
    ['maria@example.com', 'email'],
    ['m.a-r+i_a@sub.example.com.br', 'email'],
    ['a@b.co', 'email'],
    [LONGEST_EMAIL, 'email'],
    [UUID, 'random'],
    ['00000000-0000-0000-0000-000000000000', 'random'],
  ];
  for (const [text, kind] of good)
    it(`returns ${kind} for ${text}`, () => {
      expect(pixKeyKind(text)).to.equal(kind);
      expect(isPixKey(text)).to.equal(true);
    });

  const bad: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['a word', 'maria'],
    ['a CPF with a wrong digit', '99991111141'],
    ['a CPF of equal digits', '11111111111'],
    ['a masked CPF', '999.911.111-40'],
    ['a masked CNPJ', '11.222.333/0001-81'],
    ['a CNPJ in lower case', '12abc34501de35'],
    ['a phone without its country', '11987654321'],
    ['a phone without +', '5511987654321'],
    ['a phone of another country', '+351912345678'],
    ['a phone with a zero in its area code', '+5510987654321'],
    ['a phone of too few digits', '+55119876543'],
    ['a phone of too many digits', '+55119876543210'],
    ['a phone with spaces', '+55 11 98765-4321'],
    ['an e-mail in upper case', 'Maria@example.com'],
    ['an e-mail without a domain', 'maria@'],
    ['an e-mail without a name', '@example.com'],
    ['an e-mail with a bare host', 'maria@localhost'],
    ['an e-mail with two at signs', 'a@b@example.com'],
    ['an e-mail with a space', 'ma ria@example.com'],
    ['an e-mail with an accent', 'josé@example.com'],
    ['an e-mail whose domain begins with a dash', 'maria@-example.com'],
    ['an e-mail of 78 characters', `a${LONGEST_EMAIL}`],
    ['a UUID in upper case', UUID.toUpperCase()],
    ['a UUID without dashes', UUID.replaceAll('-', '')],
    ['a UUID with a letter too much', `${UUID}a`],
    ['a line break after it', '99991111140\n'],
    ['a space before it', ' 99991111140'],
    ['digits of another script', '٩٩٩٩١١١١١٤٠'],
  ];
  for (const [what, text] of bad) it(`returns null for ${what}`, () => expect(pixKeyKind(text)).to.equal(null));

  it('returns null for a key with a character that no key contains', () => {
    fc.assert(
      fc.property(fc.constantFrom(...good), fc.string({ minLength: 1 }), fc.nat(), ([text], more, at) => {
        fc.pre(/[^\w!#$%&'*+/=?^`{|}~.@-]/.test(more));
        const where = at % (text.length + 1);
        expect(pixKeyKind(text.slice(0, where) + more + text.slice(where))).to.equal(null);
      }),
    );
  });
});

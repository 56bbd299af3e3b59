import { expect } from 'chai';
import { isE164 } from '../../../domain/methods/phone.ts';

describe('phone number in E.164', () => {
  it('has 8 to 15 digits', () => {
    const lengths = Array.from({ length: 20 }, (_, length) => length);
    expect(lengths.filter((length) => isE164(`+${'1'.repeat(length)}`))).to.deep.equal([8, 9, 10, 11, 12, 13, 14, 15]);
  });

  for (const text of ['+351912345678', '+5511987654321', '+12025550123'])
    it(`accepts ${text}`, () => {
      expect(isE164(text)).to.equal(true);
    });

  for (const text of [
    '351912345678',
    '00351912345678',
    '+0351912345678',
    '+351 912 345 678',
    '+351-912345678',
    '++351912345678',
    '+351912345678\n',
    ' +351912345678',
    '+35191234567x',
    '+３５１９１２３４５６７８',
    '+',
    '',
  ])
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(isE164(text)).to.equal(false);
    });
});

// Which texts mention a person (rule L1). A text that is missed is never erased, and a wrong match erases somebody else's data.
import { expect } from 'chai';
import { concerns } from '../../../application/privacy/heldData.ts';

const mentioned = (texts: readonly string[], person: Parameters<typeof concerns>[1]): readonly string[] =>
  texts.filter((note) => concerns({ metadata: { note } }, person));

describe('a text', () => {
  it('mentions an email address in other words', () => {
    const texts = [
      'ana@mail.com',
      'Ana <ANA@Mail.com>',
      'mail to ana@mail.com.',
      '(ana@mail.com, ok)',
      '"ana@mail.com"',
    ];
    const later = ['joana@mail.com and ana@mail.com'];
    expect(mentioned([...texts, ...later], { email: 'ana@mail.com' })).to.deep.equal([...texts, ...later]);
  });

  it('does not mention an email address that is part of a longer one', () => {
    const before = [
      'joana@mail.com',
      'jo.ana@mail.com',
      'x+ana@mail.com',
      'joséana@mail.com',
      'jose\u0301ana@mail.com',
      '𝒜ana@mail.com',
    ];
    const behind = ['ana@mail.com.br', 'ana@mail.company', 'ana@mail.com-x.br', 'ana@mail.comé'];
    expect(mentioned([...before, ...behind], { email: 'ana@mail.com' })).to.deep.equal([]);
  });
});

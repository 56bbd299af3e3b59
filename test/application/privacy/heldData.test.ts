// Which texts mention a person (rule L1). A text that is missed is never erased, and a wrong match erases somebody else's data.
import { expect } from 'chai';
import { concerns } from '../../../application/privacy/heldData.ts';

const mentioned = (texts: readonly string[], person: Parameters<typeof concerns>[1]): readonly string[] =>
  texts.filter((note) => concerns({ metadata: { note } }, person));

describe('a text', () => {
  it('mentions a tax id beside other numbers, however it is punctuated', () => {
    const texts = [
      ...['39053344705', '390.533.447-05', '390 533 447/05', 'CPF39053344705', '390 - 533 - 447 - 05'],
      ...['CPF 390.533.447-05, 2 parcelas', 'pedido 123, 390.533.447-05', '2026-11-30 39053344705'],
      ...['390.533.447-05 / 11 97357-1113', '390533447 and 39053344705', '13905334470512, 39053344705'],
    ];
    expect(mentioned(texts, { document: '39053344705' })).to.deep.equal(texts);
    const companies = ['12.abc.345/01DE-35', 'CNPJ 12ABC34501DE35, 2 parcelas', '17, 12.ABC.345/01DE-35'];
    expect(mentioned(companies, { document: '12ABC34501DE35' })).to.deep.equal(companies);
  });

  it('mentions a tax id as the search keys do: only digits and letters count', () => {
    const texts = [
      ...['390.533.447–05', '390\u00a0533\u00a0447\u00a005', '(390)533.447-05', '390....53344705', '390\n533\t447\\05'],
      ...['CPF 390.533.447–05 (Ana)', '[390] [533] [447] [05]', '39053344705é', '390\u2011533\u2011447\u20110\u200b5'],
    ];
    expect(mentioned(texts, { document: '39053344705' })).to.deep.equal(texts);
    const companies = ['12\u00a0abc\u00a0345/01DE–35', '(12)ABC[345] 01DE 35', '12ABCı34501DE35'];
    expect(mentioned(companies, { document: '12ABC34501DE35' })).to.deep.equal(companies);
  });

  it('does not mention a tax id that is part of a longer number', () => {
    const texts = [
      '139053344705',
      '390533447051',
      '1390.533.447-05',
      '390.533.447-051',
      '3905334470',
      '1390.533.447–05',
      '(390)533.447–051',
      '390.533.447–0',
      '390.5A3.447–05',
      '390.533 a 447–05',
    ];
    expect(mentioned(texts, { document: '39053344705' })).to.deep.equal([]);
    const companies = ['12ABC34501DE351', '12ABC34501DE3', '112–ABC–345/01DE–35', '12–ABCS–345/01DE–35'];
    expect(mentioned(companies, { document: '12ABC34501DE35' })).to.deep.equal([]);
  });

  it('mentions a person in a key or a number of the metadata', () => {
    const person = { document: '39053344705' };
    expect(concerns({ metadata: { '390.533.447-05': 'cpf' } }, person)).to.equal(true);
    expect(concerns({ metadata: { cpf: 39053344705 } }, person)).to.equal(true);
  });

  it('mentions an email address in other words', () => {
    const texts = [
      'ana@mail.com',
      'Ana <ANA@Mail.com>',
      'mail to ana@mail.com.',
      '(ana@mail.com, ok)',
      '"ana@mail.com"',
      "{'email':'ana@mail.com'}",
      'https://loja.br/?email=ana@mail.com',
      'https://loja.br/ana@mail.com',
      '*ana@mail.com*',
    ];
    const later = ['joana@mail.com and ana@mail.com'];
    expect(mentioned([...texts, ...later], { email: 'ana@mail.com' })).to.deep.equal([...texts, ...later]);
  });

  it('does not mention an email address that is part of a longer one', () => {
    const before = [
      'joana@mail.com',
      'jo.ana@mail.com',
      'x+ana@mail.com',
      "o'ana@mail.com",
      'd’ana@mail.com',
      'joséana@mail.com',
      'jose\u0301ana@mail.com',
      '𝒜ana@mail.com',
    ];
    const behind = ['ana@mail.com.br', 'ana@mail.company', 'ana@mail.com-x.br', 'ana@mail.comé'];
    expect(mentioned([...before, ...behind], { email: 'ana@mail.com' })).to.deep.equal([]);
  });

  it('mentions an email address of any script in each normal form and case', () => {
    const texts = ['joão@pão.com.br', 'JOÃO@PÃO.COM.BR', '(joão@pão.com.br)', "{'email':'João@pão.com.br'}"];
    const forms = texts.flatMap((text) => [text.normalize('NFC'), text.normalize('NFD')]);
    for (const email of ['joão@pão.com.br'.normalize('NFC'), 'JOÃO@pão.com.br'.normalize('NFD')])
      expect(mentioned(forms, { email })).to.deep.equal(forms);
    const others = ['joao@pao.com.br', 'ajoão@pão.com.br', 'joão@pão.com.bré', 'joão@pão.com', 'joão@pão.com.br\u0301'];
    for (const form of ['NFC', 'NFD'])
      expect(
        mentioned(
          others.map((text) => text.normalize(form)),
          { email: 'joão@pão.com.br' },
        ),
      ).to.deep.equal([]);
  });
});

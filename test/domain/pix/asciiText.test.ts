import { expect } from 'chai';
import { foldToAscii } from '../../../domain/pix/brCode.ts';

describe('foldToAscii', () => {
  for (const [text, max, folded] of [
    ['Fulano de Tal', 25, 'Fulano de Tal'],
    ["T'Challa & Cia. (São)", 25, "T'Challa & Cia. (Sao)"],
    ['Bárbara Pelé', 25, 'Barbara Pele'],
    ['BA\u0301RBARA', 25, 'BARBARA'],
    ['SÃO MIGUEL DO OESTE', 15, 'SAO MIGUEL DO O'],
    ['Arya Stark with a very long name', 25, 'Arya Stark with a very lo'],
    ['ÀÂÃÄÉÊÍÓÔÕÖÚÜÇÑ', 25, 'AAAAEEIOOOOUUCN'],
    ['Café \u{1f4b8}\u{1f4b8} Bar', 25, 'Cafe Bar'],
    ['a\tb\nc\u0000d\u007fe', 25, 'a b c d e'],
    ['  two   spaces  ', 25, 'two spaces'],
    ['no trailing space', 3, 'no'],
    ['ﬁlial nº 1ª', 25, 'filial no 1a'],
    ['\ud800x\udfff', 25, 'x'],
    ['東京', 25, ''],
    ['\u0301', 25, ''],
    ['', 25, ''],
    ['anything', 0, ''],
  ] as const)
    it(`converts ${JSON.stringify(text)} to ${JSON.stringify(folded)}`, () => {
      expect(foldToAscii(text, max)).to.equal(folded);
      expect(foldToAscii(folded, max)).to.equal(folded);
    });
});

// The PDF of an access request shows everything that the JSON report shows, because it is what the person gets (rule L1).
import { expect } from 'chai';
import fc from 'fast-check';
import type { HeldView } from '../../../../application/privacy/heldView.ts';
import { renderPrivacyReport } from '../../../../http/api/privacy/reportPdf.ts';
import { spelledOut } from '../../../../http/site/pdf/printable.ts';
import { anyCharacter } from '../../../support/anyCharacter.ts';
import { pdfLines, pdfPages } from '../../../support/pdfText.ts';
import { at } from '../../../support/samples.ts';

const heldOf = (data: object, disputes: HeldView['disputes'] = []): HeldView =>
  ({
    ...{ kind: 'payment', id: 'tx_1', chargeId: 'ch_1', accountId: 'acct_1', mode: 'live', createdAt: at('12:00:00') },
    ...{ amount: 100, currency: 'BRL', keptUntil: null, erasedAt: null, data, disputes },
  }) as unknown as HeldView;
const report = (data: object, disputes?: HeldView['disputes']): Promise<Buffer> =>
  renderPrivacyReport([heldOf(data, disputes)], at('17:00:00'));
/** Returns the drawn text without spaces, because lines end at them. */
const shown = (pdf: Buffer): string =>
  pdfLines(pdf)
    .map(({ text }) => text)
    .join('')
    .replaceAll(/\s/g, '');
const words = (count: number): string => Array.from({ length: count }, (_, n) => `palavra${n}`).join(' ');
const ofMetadata = (metadata: object) => ({ charge: { terms: { metadata } } });

describe('the report of a person’s data as a PDF', () => {
  it('contains texts of any length, over as many pages as they need, within the margins', async () => {
    const appeal = `${words(2_000)} entregue a Zuleica`;
    const unbroken = 'x'.repeat(9_000);
    const disputes = [{ id: 'med_1', data: { appeal: { reason: appeal } } }] as unknown as HeldView['disputes'];
    const pdf = await report(ofMetadata({ description: words(60), unbroken }), disputes);
    for (const text of [words(60), unbroken, `${appeal} (med_1)`])
      expect(shown(pdf)).to.include(text.replaceAll(' ', ''));
    expect(pdfPages(pdf)).to.be.greaterThan(5);
    for (const { x, y } of pdfLines(pdf))
      expect([x >= 56, x < 540, y > 56, y <= 786]).to.deep.equal([true, true, true, true]);
  });

  it('draws a word of 200,000 characters without a pause of minutes, and lets others take turns between payments', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const held = ['x'.repeat(200_000), '', ''].map((note) => heldOf(ofMetadata({ note })));
    await renderPrivacyReport(held, at('17:00:00'));
    clearImmediate(counting);
    expect(turns).to.be.at.least(held.length);
  }).timeout(20_000); // it takes 0.2 s; pdfkit alone takes 24 s for half of the word

  it('contains the keys of metadata as the merchant wrote them, also long ones, and empty values', async () => {
    const key = `nome do presenteado ${words(30)}`;
    const pdf = await report(ofMetadata({ name: 'a', charge: 'b', Имя: 'c', [key]: '', list: [{ email: 'd' }, 0] }));
    const rows = ['name', 'charge', '[U+0418][U+043C][U+044F]', key, 'list email', 'list'];
    const values = ['a', 'b', 'c', '(vazio)', 'd', '0'];
    expect(shown(pdf)).to.include(
      rows.map((row, n) => `Dados da loja ${row} ${values[n]}`.replaceAll(' ', '')).join(''),
    );
  });

  it('spells out characters that it can’t draw, and explains this', async () => {
    const pdf = await report({ charge: { terms: { customer: { name: 'Dmítri Дм 🎉' } } } });
    expect(shown(pdf)).to.include('ClientenomeDmítri[U+0414][U+043C][U+1F389]');
    expect(shown(pdf)).to.include('[U+0414]representaumcaracterequeestedocumentonãopodedesenhar:orelatórioemJSONtem');
  });

  it('loses nothing of any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 300 }), async (name) => {
        const value = spelledOut(name).replaceAll(/\s/g, '');
        expect(shown(await report({ charge: { terms: { customer: { name } } } }))).to.include(`Clientenome${value}`);
      }),
      { numRuns: 40 },
    );
  });
});

describe('text that is spelled out', () => {
  for (const [text, expected] of [
    ['João Ação “Loja” — 10 €', 'João Ação “Loja” — 10 €'],
    ['Joa\u0303o', 'João'],
    ['Łukasz Dvořák', '[U+0141]ukasz Dvo[U+0159]ák'],
    ['a\tb\r\nc\nd\u0000\u00a0e', 'a[U+0009]b\nc\nd[U+0000] e'],
    ['a\u202eb\u00adc', 'a[U+202E]b[U+00AD]c'],
    ['\ud800x', '[U+D800]x'],
    ['', ''],
  ] as const)
    it(`is ${JSON.stringify(expected)} for ${JSON.stringify(text)}`, () => expect(spelledOut(text)).to.equal(expected));
});

// Rejections shown on pages: each error code and message of the API in Portuguese, with its amounts, numbers and fields.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { chargeProblems } from '../../../domain/charge/request.ts';
import { reject } from '../../../domain/kernel/rejection.ts';
import { ERRORS } from '../../../http/kernel/errors.ts';
import { PT_BY_CODE, PT_BY_SENTENCE, problemText, refusalText } from '../../../http/site/dashboard/texts/refusals.ts';

const sources = (): string =>
  ['domain', 'application', 'http', 'infrastructure']
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('texts/refusals.ts'))
    .map((name) =>
      readFileSync(name, 'utf8')
        .replaceAll(/\$\{[^{}]*\}/g, '{}')
        .replaceAll("\\'", "'"),
    )
    .join('\n');
/** Prefixes that the API adds to shared messages. */
const BEFORE = /^(?:\{field\}|The logo|The file name|new_password) /;

describe('rejections on pages', () => {
  it('have a distinct Portuguese sentence for each error code', () => {
    expect(Object.keys(PT_BY_CODE).toSorted()).to.deep.equal(Object.keys(ERRORS).toSorted());
    const sentences = Object.values(PT_BY_CODE);
    expect(new Set(sentences).size).to.equal(sentences.length);
    for (const text of sentences) expect(text).to.match(/^[A-ZÁÉÍÓÚÂÊÔÃÕ].*\.$/s);
  });
  it('translate only messages that the API still uses', () => {
    const all = sources();
    for (const english of Object.keys(PT_BY_SENTENCE)) {
      const said = english.replace(BEFORE, '').replace(/\.$/, '').replaceAll('{$}', '{}');
      expect(all.includes(said), english).to.equal(true);
    }
  });
  it('have the same placeholders in both languages', () => {
    const holes = (text: string) => [...text.matchAll(/\{(?:\$|field|)\}/g)].map(([hole]) => hole);
    for (const [english, pt] of Object.entries(PT_BY_SENTENCE))
      if (!english.includes('already {}')) expect(holes(pt), english).to.deep.equal(holes(english));
  });
  it('keep amounts, numbers and names', () => {
    const refusal = reject(
      'refund_amount_exceeds_remaining',
      'The amount exceeds the remaining refundable amount (123456).',
    );
    expect(refusalText(refusal, 'pt')).to.equal('O valor é maior que o que resta a estornar (R$ 1.234,56).');
    expect(refusalText(refusal, 'en')).to.equal('The amount exceeds the remaining refundable amount (R$ 1,234.56).');
    const size = reject('EVIDENCE_SIZE_MISMATCH', 'The uploaded file has 3 bytes instead of the declared 4.');
    expect(refusalText(size, 'pt')).to.equal('O arquivo tem 3 bytes em vez dos 4 declarados.');
    const setting = reject('invalid_request', 'payoutCount must be a whole number from 1 to 1000', {
      param: 'payoutCount',
    });
    expect(refusalText(setting, 'pt')).to.equal('Saques por hora: informe um número inteiro de 1 a 1000.');
  });
  it('name the invalid field', () => {
    const [problem] = chargeProblems({ amount: 1, payment_method: 'pix', customer: { document: '123' } });
    if (problem === undefined) throw new Error('no problem');
    expect(problemText(problem, 'pt')).to.equal('CPF ou CNPJ do cliente: informe um CPF ou CNPJ válido.');
    expect(problemText(problem, 'en')).to.equal('customer.document must be a CPF or CNPJ with valid check digits');
  });
  it('fall back to the code’s sentence, with the field if it is invalid_request', () => {
    expect(refusalText(reject('not_found', 'Something new.'), 'pt')).to.equal(PT_BY_CODE.not_found);
    expect(refusalText(reject('invalid_request', 'Something new.', { param: 'color' }), 'pt')).to.equal(
      'Um dos campos não é válido (Cor).',
    );
    expect(refusalText(reject('not_found', 'Something new.'), 'en')).to.equal('Something new.');
  });
});

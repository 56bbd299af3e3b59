import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { int8Array, nullableTextArray, textArray, uuidArray } from '../../../infrastructure/postgres/binaryArrays.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';
import { createPostgresEventLog, type PostgresEventLog } from '../../support/postgresEventLog.ts';

const ARRAY_OF_ONE = [0, 0, 0, 1, 0, 0, 0, 0];

describe('binary arrays', () => {
  let log: PostgresEventLog;
  before(async () => {
    log = await createPostgresEventLog();
  });
  after(() => log.dispose());

  it('have the same bytes as array_send', () => {
    expect([...textArray(['é'])]).to.deep.equal([
      ...ARRAY_OF_ONE,
      0,
      0,
      0,
      25,
      0,
      0,
      0,
      1,
      0,
      0,
      0,
      1,
      0,
      0,
      0,
      2,
      0xc3,
      0xa9,
    ]);
    const minusOne = [255, 255, 255, 255, 255, 255, 255, 255];
    expect([...int8Array([-1])]).to.deep.equal([
      ...ARRAY_OF_ONE,
      0,
      0,
      0,
      20,
      0,
      0,
      0,
      1,
      0,
      0,
      0,
      1,
      0,
      0,
      0,
      8,
      ...minusOne,
    ]);
    const [id, bytes] = [
      '00112233-4455-6677-8899-aabbccddeeff',
      Buffer.from('00112233445566778899aabbccddeeff', 'hex'),
    ];
    expect([...uuidArray([id])]).to.deep.equal([
      ...ARRAY_OF_ONE,
      ...[0, 0, 0x0b, 0x86, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 16],
      ...bytes,
    ]);
  });

  it('reach the server with their values unchanged (law)', async () => {
    const text = fc
      .string({ unit: anyCharacter, maxLength: 30 })
      .filter((value) => value.isWellFormed() && !value.includes('\0'));
    const law = fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 20 }),
      fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 20 }),
      async (texts, numbers) => {
        const ids = texts.map(() => randomUUID());
        const { rows } = await log.sql.query(
          'SELECT to_json($1::text[])::text AS texts, $2::int8[]::text[] AS numbers, $3::uuid[]::text[] AS ids',
          [textArray(texts), int8Array(numbers), uuidArray(ids)],
        );
        expect(JSON.parse(rows[0].texts)).to.deep.equal(texts);
        expect(rows[0].numbers).to.deep.equal(numbers.map(String));
        expect(rows[0].ids).to.deep.equal(ids);
      },
    );
    await fc.assert(law, { numRuns: 60 });
  });

  it('can’t be empty or have a size other than declared', () => {
    expect(() => textArray([])).to.throw(RangeError);
    expect(() => textArray(['ab'], 3)).to.throw(RangeError);
    expect(() => textArray(['ab'], 1)).to.throw(RangeError);
  });

  it('of texts are returned by the server unchanged, also with nulls or empty (law)', async () => {
    const any = fc.string({ unit: anyCharacter });
    const ascii = fc.oneof(fc.string(), fc.constantFrom('x'.repeat(255), 'x'.repeat(256), 'x'.repeat(300)));
    const column = (text: fc.Arbitrary<string>) => fc.array(fc.option(text.filter((one) => !one.includes('\0'))));
    await fc.assert(
      fc.asyncProperty(fc.oneof(column(any), column(ascii)), async (texts) => {
        const { rows } = await log.sql.query('SELECT $1::text[] AS back', [nullableTextArray(texts)]);
        expect(rows[0].back).to.deep.equal(texts);
      }),
      { numRuns: 100 },
    );
  });
});

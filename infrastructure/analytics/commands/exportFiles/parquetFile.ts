// Apache Parquet: amounts in units of the currency are exact decimals, instants are microseconds in UTC.
import { open } from 'node:fs/promises';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ExportColumns, ExportRow, OpenExportFile } from './exportFile.ts';

type ColumnType = ExportColumns[number]['type'];
type Value = string | number | bigint | boolean | null;

const DECIMALS = 8;
const DAY_MS = 86_400_000;

/** Returns the integer of 10^-8 units. Throws RangeError for a text with more decimals. */
const unscaled = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  if (fraction.length > DECIMALS) throw new RangeError(`${text} has more than ${DECIMALS} decimals`);
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
};

interface ParquetType {
  readonly element: Omit<SchemaElement, 'name'>;
  readonly of: (text: string) => Value;
}

const TYPES: { readonly [T in ColumnType]: ParquetType } = {
  text: { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, of: (text) => text },
  bigint: { element: { type: 'INT64' }, of: BigInt },
  integer: { element: { type: 'INT32' }, of: Number },
  boolean: { element: { type: 'BOOLEAN' }, of: (text) => text === 'true' },
  date: { element: { type: 'INT32', converted_type: 'DATE' }, of: (text) => Date.parse(text) / DAY_MS },
  timestamptz: {
    element: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } },
    of: (text) => BigInt(Date.parse(text)) * 1_000n,
  },
  numeric: {
    element: {
      ...{ type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 },
      ...{ converted_type: 'DECIMAL', precision: 38, scale: DECIMALS },
    },
    of: unscaled,
  },
};

/** Rows per row group, which is held in memory. */
const GROUP = 20_000;

export const parquetFile: OpenExportFile = async (path, columns) => {
  const file = await open(path, 'wx', 0o600);
  const bytes = new ByteWriter();
  const flush = async (): Promise<void> => {
    await file.appendFile(new Uint8Array(bytes.buffer, 0, bytes.index));
    bytes.index = 0;
  };
  const elements = columns.map(
    ({ name, type }) => ({ name, repetition_type: 'OPTIONAL', ...TYPES[type].element }) as const,
  );
  const parquet = new ParquetWriter({
    writer: Object.assign(bytes, { flush, finish: flush }),
    schema: [{ name: 'root', num_children: columns.length }, ...elements],
    createdBy: 'quita',
  });
  let waiting: ExportRow[] = [];
  const writeGroup = async (): Promise<void> => {
    const rows = waiting;
    waiting = [];
    if (rows.length === 0) return;
    const columnData = columns.map(({ name, type }) => {
      const { of } = TYPES[type];
      return { name, data: rows.map((row) => (row[name] == null ? null : of(row[name]))) };
    });
    await parquet.write({ columnData, rowGroupSize: GROUP });
  };
  return {
    write: async (rows) => {
      waiting.push(...rows);
      if (waiting.length >= GROUP) await writeGroup();
    },
    close: async () => {
      await writeGroup();
      await parquet.finish();
      await file.close();
    },
  };
};

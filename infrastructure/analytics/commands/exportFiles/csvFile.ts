// CSV as in RFC 4180: UTF-8, a head, CRLF. NULL is an empty field, an empty text is "".
import { open } from 'node:fs/promises';
import { csvField, csvTextField } from '../../../../domain/presentation/csv.ts';
import type { ExportColumns, ExportRow, OpenExportFile } from './exportFile.ts';

const lineOf = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

const cell = (row: ExportRow, { name, type }: ExportColumns[number]): string => {
  const text = row[name];
  if (text == null) return '';
  if (text === '') return '""';
  return type === 'text' ? csvTextField(text) : csvField(text);
};

export const csvFile: OpenExportFile = async (path, columns) => {
  const file = await open(path, 'wx', 0o600);
  await file.appendFile(lineOf(columns.map(({ name }) => name)));
  return {
    write: async (rows) => {
      const lines = rows.map((row) => lineOf(columns.map((column) => cell(row, column))));
      if (lines.length > 0) await file.appendFile(lines.join(''));
    },
    close: () => file.close(),
  };
};

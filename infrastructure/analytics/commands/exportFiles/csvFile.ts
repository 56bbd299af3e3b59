// CSV as in RFC 4180: UTF-8, a head, CRLF. NULL is an empty field, an empty text is "".
import { open } from 'node:fs/promises';
import { csvField } from '../../../../domain/presentation/csv.ts';
import type { OpenExportFile } from './exportFile.ts';

const cell = (text: string | null | undefined): string => {
  if (text == null) return '';
  return text === '' ? '""' : csvField(text);
};

export const csvFile: OpenExportFile = async (path, columns) => {
  const file = await open(path, 'w', 0o600);
  const names = columns.map(({ name }) => name);
  const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;
  await file.appendFile(line(names));
  return {
    write: async (rows) => {
      if (rows.length > 0)
        await file.appendFile(rows.map((row) => line(names.map((name) => cell(row[name])))).join(''));
    },
    close: () => file.close(),
  };
};

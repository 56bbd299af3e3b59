// Formats the rows as text.
import { type Row, ratioOf } from './row.ts';

const figure = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1));

const cellsOf = (row: Row): string[] => {
  const ratio = ratioOf(row);
  return [
    row.what,
    `${figure(row.ours)} ${row.unit}`,
    row.counterpart === null ? '' : `${figure(row.counterpart)} ${row.unit}`,
    ratio === null ? '' : `${ratio.toFixed(2)}×`,
    row.goal.text,
    row.goal.met === null ? '' : row.goal.met ? 'reached' : 'MISSED',
  ];
};

export const renderTable = (rows: readonly Row[]): string => {
  const lines = [['what', 'ours', 'counterpart', 'ratio', 'goal', ''], ...rows.map(cellsOf)];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  const table = lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  const notes = rows.map(({ what, against, details }) => {
    const list = Object.entries(details).map(
      ([name, value]) => `${name} ${typeof value === 'number' ? figure(value) : value}`,
    );
    return `${what}\n  against ${against}${list.map((note) => `\n  ${note}`).join('')}`;
  });
  return [...table, '', ...notes].join('\n');
};

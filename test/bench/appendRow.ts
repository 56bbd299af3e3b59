// The append bench as a row.
import { benchAppend } from './append.ts';
import type { BenchRow } from './row.ts';

export const append: BenchRow = async ({ say }) => {
  say('append: 32 writers');
  const { ours, counterpart } = await benchAppend();
  return [
    {
      name: 'append',
      what: 'append, 32 writers',
      against: 'one INSERT per transaction through pg, 32 connections',
      unit: 'events/s',
      ours,
      counterpart,
      goal: { text: '≥ 5×', met: ours >= 5 * counterpart },
      details: {},
    },
  ];
};

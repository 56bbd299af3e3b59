// The append bench as a row for each kind of log.
import { benchAppend } from './append.ts';
import type { BenchRow } from './row.ts';

const AGAINST = 'one INSERT per transaction through pg, 32 connections';

export const append: BenchRow = async ({ say }) => {
  say('append: 32 writers');
  const { ours, counterpart } = await benchAppend('postgres');
  const goal = { text: '≥ 5×', met: ours >= 5 * counterpart };
  const what = 'append, 32 writers';
  return [{ name: 'append', what, against: AGAINST, unit: 'events/s', ours, counterpart, goal, details: {} }];
};

export const appendEventStoreDb: BenchRow = async ({ say }) => {
  say('append on EventStoreDB: 32 writers');
  const { what: store, ours, counterpart } = await benchAppend('eventStoreDb');
  // The goal applies to the embedded log only. With EventStoreDB, the figure depends on the server.
  const goal = { text: '', met: null };
  const what = `append, 32 writers on ${store}`;
  return [
    { name: 'appendEventStoreDb', what, against: AGAINST, unit: 'events/s', ours, counterpart, goal, details: {} },
  ];
};

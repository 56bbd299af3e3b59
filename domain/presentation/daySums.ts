// Sums over the counts of several days.
import type { DayCounts, DayRow, FunnelStage } from './dayCounts.ts';

export const sumBy = (rows: readonly DayRow[], count: Exclude<keyof DayCounts, 'stages'>): number =>
  rows.reduce((sum, row) => sum + row[count], 0);

export const sumStage = (rows: readonly DayRow[], stage: FunnelStage): number =>
  rows.reduce((sum, { stages }) => sum + stages[stage], 0);

import { readModel } from '../engine/readModel.ts';
import { balancesForAnalysts } from './analysts.ts';
import { dailyBalancesProjection } from './projection.ts';

export const dailyBalances = readModel({ projection: dailyBalancesProjection, analysts: balancesForAnalysts });

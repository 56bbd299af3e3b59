import { readModel } from '../engine/readModel.ts';
import { ledgerForAnalysts } from './analysts.ts';
import { walletProjection } from './projection.ts';
import { ledgerReads, walletViews } from './queries.ts';
import { statementViews } from './statements.ts';

export const wallet = readModel({
  projection: walletProjection,
  analysts: ledgerForAnalysts,
  views: (db) => ({ wallet: walletViews(db), statements: statementViews(db) }),
  operatorsReads: (db) => ({ ledger: ledgerReads(db) }),
});

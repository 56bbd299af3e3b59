// Read model of dispute cases: what GET /v1/med/cases shows, what the list filters by, and what waits for operators and reminders.
import { isUnderWay, type MedCaseState, medCase, reminderAt } from '../../domain/dispute/medCase.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';

const term =
  <Name extends 'paymentId' | 'type' | 'responseDeadline'>(name: Name) =>
  (state: MedCaseState) =>
    state.status === 'absent' ? null : state.terms[name];

/** Why it waits for an operator; null: it does not. */
export const waitsBecause = (state: MedCaseState): 'review' | 'amount_mismatch' | null => {
  if (state.status === 'absent' || !isUnderWay(state)) return null;
  if (state.review !== null) return 'review';
  return state.terms.amountMismatch ? 'amount_mismatch' : null;
};

export const disputesProjection = aggregateTable<'medCase', MedCaseState>({
  name: 'disputes',
  version: 1,
  category: 'medCase',
  decider: medCase,
  table: 'cases',
  columns: [
    { name: 'payment_id', type: 'text', of: term('paymentId') },
    { name: 'type', type: 'text', of: term('type') },
    { name: 'status', type: 'text', of: ({ status }) => status },
    {
      name: 'created_at',
      type: 'timestamptz',
      of: (state) => (state.status === 'absent' ? null : state.createdAt),
    },
    { name: 'response_deadline', type: 'timestamptz', of: term('responseDeadline') },
    { name: 'remind_at', type: 'timestamptz', of: reminderAt },
    { name: 'waits_because', type: 'text', of: waitsBecause },
  ],
  indexes: [
    { columns: 'account_id, mode, created_at DESC, id' },
    { columns: 'account_id, mode, status, created_at DESC, id' },
    { columns: 'account_id, mode, type, created_at DESC, id' },
    { columns: 'payment_id' },
    { columns: 'remind_at, id', where: 'remind_at IS NOT NULL' },
    { columns: 'created_at, id', where: 'waits_because IS NOT NULL' },
    { columns: 'response_deadline', where: `status = 'open'` },
    { columns: 'id', where: `status IN ('open', 'appealed')` },
  ],
});

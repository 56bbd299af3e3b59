// Read model of dispute cases: the data of GET /v1/med/cases and its filters, and cases that await operators or reminders.
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { type CaseTerms, type MedCaseState, reminderAt } from '../../domain/dispute/medCase.ts';
import { waitsOf } from '../../domain/dispute/waiting.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';
import { aggregateTable } from '../engine/aggregateTable.ts';

const term =
  <Name extends 'type' | 'responseDeadline'>(name: Name) =>
  (state: MedCaseState): CaseTerms[Name] | null =>
    state.status === 'absent' ? null : state.terms[name];
/** Fields that are also known for a report that opened no case. */
const reported =
  (name: 'paymentId' | 'providerCaseId') =>
  (state: MedCaseState): string | null =>
    (state.status === 'absent' ? state.notTaken : state.terms)?.[name] ?? null;

const waitsBecause = (state: MedCaseState): string | null =>
  waitsOf(state)
    .map(([because]) => because)
    .join(',') || null;
const waitsSince = (state: MedCaseState): Timestamp | null =>
  waitsOf(state)
    .map(([, since]) => since)
    .toSorted()[0] ?? null;

/** Returns since when a report waits until its payment can accept it, or null if none does. */
const owedSince = (state: MedCaseState): Timestamp | null =>
  state.status === 'absent' && state.notTaken?.isFinal === false && !state.isDismissed ? state.notTaken.at : null;

export const disputesProjection = aggregateTable({
  name: 'disputes',
  version: 4,
  aggregate: MED_CASE,
  isByAccount: true,
  table: 'cases',
  columns: [
    { name: 'payment_id', type: 'text', of: reported('paymentId') },
    { name: 'provider_case_id', type: 'text', of: reported('providerCaseId') },
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
    { name: 'waits_since', type: 'timestamptz', of: waitsSince },
    { name: 'owed_since', type: 'timestamptz', of: owedSince },
  ],
  indexes: [
    { columns: 'account_id, mode, created_at DESC, id' },
    { columns: 'account_id, mode, status, created_at DESC, id' },
    { columns: 'account_id, mode, type, created_at DESC, id' },
    { columns: 'payment_id' },
    { columns: 'remind_at, id', where: 'remind_at IS NOT NULL' },
    { columns: 'waits_since, id', where: 'waits_since IS NOT NULL' },
    { columns: 'owed_since, id', where: 'owed_since IS NOT NULL' },
    { columns: 'response_deadline', where: `status = 'open'` },
    { columns: 'id', where: `status IN ('open', 'appealed')` },
  ],
});

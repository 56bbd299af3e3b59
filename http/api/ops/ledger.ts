// The ledger, for operators of the platform (rule O1).

import { ACCOUNT } from '../../../domain/account/account.ts';
import { LEDGER_ACCOUNTS } from '../../../domain/aggregates.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import {
  anyInteger,
  boolean,
  described,
  exactly,
  id,
  listOf,
  oneOfTexts,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';
import { route } from '../../kernel/route.ts';
import { NO_PAYMENT, paymentParam } from '../payments/operatorHeld.ts';
import { FOR_OPERATORS } from './tags.ts';

const ledgerSchema = exactly({
  isBalanced: boolean,
  sums: described(
    'Of all postings, by currency: zero.',
    listOf(exactly({ currency: string(), sum: anyInteger, postings: anyInteger })),
  ),
  disputes: described(
    'The rest on the account `disputes`: the platform’s gain, or its loss if it is negative.',
    listOf(exactly({ accountId: id(ACCOUNT.idPrefix), mode: string(), currency: string(), rest: anyInteger })),
  ),
  entries: described(
    'Entries that do not sum to zero: none.',
    listOf(exactly({ paymentId: orNull(id(PAYMENT.idPrefix)), revision: anyInteger, sum: anyInteger })),
  ),
  balances: described(
    'Balances that are not the sum of their postings: none.',
    listOf(
      exactly({
        accountId: id(ACCOUNT.idPrefix),
        mode: string(),
        currency: string(),
        ledgerAccount: string(),
        balance: anyInteger,
        postings: anyInteger,
      }),
    ),
  ),
});

const checkLedgerRoute = route({
  method: 'GET',
  path: '/ops/v1/ledger/check',
  operationId: 'checkLedger',
  summary: 'Whether every entry and the whole ledger sum to zero, and every balance is the sum of its postings',
  description:
    'Verifies that every ledger entry and the ledger as a whole sum to zero, and that balances match their postings.',
  ...FOR_OPERATORS,
  responses: { 200: { kind: 'json', description: 'What was found.', schema: ledgerSchema } },
  errors: [],
  handle: async ({ services: { platform } }) => {
    const { isBalanced, sums, entries, balances, disputes } = await platform.checkLedger();
    return {
      status: 200,
      body: {
        isBalanced,
        sums,
        disputes: disputes.map(({ account_id: accountId, ...rest }) => ({
          accountId: ACCOUNT.idPrefix + accountId,
          ...rest,
        })),
        entries: entries.map(({ payment_id: paymentId, revision, sum }) => ({
          paymentId: paymentId === null ? null : PAYMENT.idPrefix + paymentId,
          revision,
          sum,
        })),
        balances: balances.map(({ account_id: accountId, ledger_account: ledgerAccount, ...rest }) => ({
          accountId: ACCOUNT.idPrefix + accountId,
          ledgerAccount,
          ...rest,
        })),
      },
    };
  },
});

const paymentLedgerSchema = exactly({
  paymentId: id(PAYMENT.idPrefix),
  postings: described(
    'Those that follow from its events, in order.',
    listOf(
      exactly({
        revision: described('Of its event.', anyInteger),
        line: described('Of the postings of its event, from 0.', anyInteger),
        event: string(),
        at: timestamp,
        account: oneOfTexts(LEDGER_ACCOUNTS),
        currency: string(),
        amount: described('Signed minor units; credit is positive.', anyInteger),
        sum: described('Of the account in this payment, after this posting.', anyInteger),
        what: described('What it does to the account, and why.', string()),
      }),
    ),
  ),
  totals: described('Of all of them, by currency: zero.', listOf(exactly({ currency: string(), sum: anyInteger }))),
  differences: described('Postings that are kept and follow from no event, or the reverse: none.', listOf(string())),
});

const showLedgerRoute = route({
  method: 'GET',
  path: '/ops/v1/ledger/payments/{id}',
  operationId: 'showLedger',
  params: paymentParam,
  summary:
    'Every posting of a payment: when, by which event, on which account, how much, the sum of the account, and why',
  description: 'Returns the ledger postings of one payment, each with its event, account, amount and reason.',
  ...FOR_OPERATORS,
  reads: ['wallet'],
  responses: {
    200: { kind: 'json', description: 'The postings, and whether they are kept.', schema: paymentLedgerSchema },
  },
  errors: ['not_found'],
  handle: async ({ params, services: { platform } }) => {
    const ledger = await platform.showLedger(params.id);
    return ledger === null ? NO_PAYMENT : { status: 200, body: ledger };
  },
});

export const OPS_LEDGER_ROUTES = [checkLedgerRoute, showLedgerRoute];

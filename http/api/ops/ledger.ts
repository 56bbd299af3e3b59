// Routes of the ledger for operators of the platform (rule O1).

import { NO_PAYMENT } from '../../../application/payments/ownPayment.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { LEDGER_ACCOUNTS } from '../../../domain/aggregates.ts';
import { PAYMENT } from '../../../domain/payment/aggregate.ts';
import { PAYOUT } from '../../../domain/payout/aggregate.ts';
import { NO_PAYOUT } from '../../../domain/payout/decisions.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { json, route } from '../../kernel/route.ts';
import { paymentParam } from '../payments/payment.ts';
import { payoutParam } from '../payouts/payouts.ts';
import { FOR_OPERATORS } from './operatorRoutes.ts';

const ledgerSchema = s.exactly({
  isBalanced: s.boolean,
  sums: s.described(
    'The sum of all postings by currency. It must be zero.',
    s.listOf(s.exactly({ currency: s.string(), sum: s.anyInteger, postings: s.anyInteger })),
  ),
  disputes: s.described(
    'The balance of the ledger account `disputes`: the platform’s gain, or its loss if negative.',
    s.listOf(
      s.exactly({ accountId: s.id(ACCOUNT.idPrefix), mode: s.string(), currency: s.string(), rest: s.anyInteger }),
    ),
  ),
  entries: s.described(
    'Entries that do not sum to zero. The list must be empty.',
    s.listOf(
      s.exactly({
        stream: s.described('The stream of the entry, such as payout-<raw id>.', s.string()),
        paymentId: s.orNull(s.id(PAYMENT.idPrefix)),
        revision: s.anyInteger,
        sum: s.anyInteger,
      }),
    ),
  ),
  balances: s.described(
    'Balances that differ from the sum of their postings. The list must be empty.',
    s.listOf(
      s.exactly({
        accountId: s.id(ACCOUNT.idPrefix),
        mode: s.string(),
        currency: s.string(),
        ledgerAccount: s.string(),
        balance: s.anyInteger,
        postings: s.anyInteger,
      }),
    ),
  ),
});

const checkLedgerRoute = route('GET', '/ops/v1/ledger/check', {
  operationId: 'checkLedger',
  summary: 'Check the ledger',
  description:
    'Checks that every ledger entry and the ledger as a whole sum to zero, and that every balance matches its postings.',
  ...FOR_OPERATORS,
  reads: ['wallet'],
  responses: { 200: json('The result of the check.', ledgerSchema) },
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
        entries: entries.map(({ stream, payment_id: paymentId, revision, sum }) => ({
          stream,
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

/** `what`: the payment or payout. */
const postingsOf = (what: string) => ({
  postings: s.described(
    `The postings that follow from the events of the ${what}, in order.`,
    s.listOf(
      s.exactly({
        revision: s.described('The revision of the event.', s.anyInteger),
        line: s.described('The position among the postings of the event, from 0.', s.anyInteger),
        event: s.string(),
        at: s.timestamp,
        account: s.oneOfTexts(LEDGER_ACCOUNTS),
        currency: s.string(),
        amount: s.described('The amount in minor units. A credit is positive.', s.anyInteger),
        sum: s.described(`The sum of the ledger account for this ${what}, including this posting.`, s.anyInteger),
        what: s.described('What the posting does to the ledger account, and why.', s.string()),
      }),
    ),
  ),
  totals: s.described(
    'The sum of all postings by currency. It must be zero.',
    s.listOf(s.exactly({ currency: s.string(), sum: s.anyInteger })),
  ),
  differences: s.described(
    'Differences between the stored postings and those that follow from the events. The list must be empty.',
    s.listOf(s.string()),
  ),
});

const POSTINGS_SHOWN = 'The postings, and how the stored ones differ from them.';

const showLedgerRoute = route('GET', '/ops/v1/ledger/payments/{id}', {
  operationId: 'showLedger',
  params: paymentParam,
  summary: 'List the ledger postings of a payment',
  description: 'Returns the ledger postings of one payment, each with its event, account, amount and reason.',
  ...FOR_OPERATORS,
  reads: ['wallet'],
  responses: {
    200: json(POSTINGS_SHOWN, s.exactly({ paymentId: s.id(PAYMENT.idPrefix), ...postingsOf('payment') })),
  },
  handle: async ({ params: { id }, services: { platform } }) => {
    const ledger = await platform.showLedger(PAYMENT.stream(id));
    return ledger === null ? NO_PAYMENT : { status: 200, body: { paymentId: PAYMENT.idPrefix + id, ...ledger } };
  },
});

const showPayoutLedgerRoute = route('GET', '/ops/v1/ledger/payouts/{id}', {
  operationId: 'showPayoutLedger',
  params: payoutParam,
  summary: 'List the ledger postings of a payout',
  description:
    'Returns the ledger postings of one requested payout. Those of a cash-out refund are in the ledger of its payment.',
  ...FOR_OPERATORS,
  reads: ['wallet'],
  responses: {
    200: json(POSTINGS_SHOWN, s.exactly({ payoutId: s.id(PAYOUT.idPrefix), ...postingsOf('payout') })),
  },
  handle: async ({ params: { id }, services: { platform } }) => {
    const ledger = await platform.showLedger(PAYOUT.stream(id));
    return ledger === null ? NO_PAYOUT : { status: 200, body: { payoutId: PAYOUT.idPrefix + id, ...ledger } };
  },
});

export const OPS_LEDGER_ROUTES = [checkLedgerRoute, showLedgerRoute, showPayoutLedgerRoute];

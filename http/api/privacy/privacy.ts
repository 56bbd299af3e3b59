// Routes by which operators find, report and erase the personal data of payers (rules L1–L3). They are POST, so that no URL has a tax id.
import { erasedView, heldView } from '../../../application/privacy/heldView.ts';
import { searchNamed } from '../../../application/privacy/namedSubject.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import * as s from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS } from '../ops/operatorRoutes.ts';
import { renderPrivacyReport } from './reportPdf.ts';

const subject = {
  document: s.optional(s.described('A CPF or CNPJ, with or without punctuation.', s.string(32))),
  email: s.optional(s.described('An email address.', s.string(254))),
  payment: s.optional(s.described('The ch_ or tx_ id of a payment.', s.string(64))),
  payout: s.optional(
    s.described(
      'The po_ id of a payout. That of a refund finds its payment; an erasure must name the payment itself.',
      s.string(64),
    ),
  ),
  startingAfter: s.optional(
    s.described('The last id of the previous page, for a document or an email address.', s.string(64)),
  ),
};
const fields = {
  kind: s.oneOfTexts(['payment', 'payout']),
  id: s.string(),
  chargeId: s.orNull(s.id(PREFIX.charge)),
  accountId: s.id(ACCOUNT.idPrefix),
  mode: s.mode,
  createdAt: s.timestamp,
  amount: s.anyInteger,
  currency: s.string(),
  keptUntil: s.described(
    'Until when the law requires the data; null while the payment has not ended.',
    s.orNull(s.timestamp),
  ),
  erasedAt: s.orNull(s.timestamp),
};
const hasMore = s.described('Whether more payments or payouts were found than the answer lists.', s.boolean);

const READS = ['payments', 'payouts', 'disputes'] as const;

const findRoute = route('POST', '/ops/v1/privacy/find', {
  operationId: 'findPersonalData',
  summary: 'Find payments that hold a person’s data',
  description:
    'Returns up to 1,000 payments and payouts of all accounts and modes that hold data of the person. Name exactly one subject. A search for a document or an email address reads every payment once, about 15 s per million.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: s.exactly(subject) }),
  reads: READS,
  errors: ['invalid_cursor'],
  responses: { 200: json('The payments and payouts.', s.exactly({ data: s.listOf(s.exactly(fields)), hasMore })) },
  handle: async ({ body, services: { platform } }) => {
    const { startingAfter, ...named } = body;
    const search = searchNamed(named, startingAfter);
    if (isRejection(search)) return search;
    const found = await platform.findPersonalData(search.of, search.after);
    if (isRejection(found)) return found;
    const data = found.held.map(heldView).map(({ data: _, disputes: __, ...one }) => one);
    return { status: 200, body: { data, hasMore: found.next !== null } };
  },
});

const reportRoute = route('POST', '/ops/v1/privacy/report', {
  operationId: 'reportPersonalData',
  summary: 'Report what is held about a person',
  description:
    'Returns the personal data that Quita holds about the person, for an access request under LGPD article 18: as JSON, and as a PDF in Portuguese. Name exactly one subject.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: s.exactly(subject) }),
  reads: READS,
  errors: ['invalid_cursor'],
  responses: {
    200: json(
      'The report.',
      s.exactly({
        data: s.listOf(
          s.exactly({
            ...fields,
            data: s.described('The personal data, with the names under which it is stored.', s.anyJson),
            disputes: s.listOf(
              s.exactly({
                id: s.id(MED_CASE.idPrefix),
                data: s.described('Its personal data; null if the case can’t be read.', s.anyJson),
              }),
            ),
          }),
        ),
        hasMore,
        pdf: s.exactly({
          contentType: s.constant('application/pdf'),
          base64: s.described('The PDF file, in base64.', s.string()),
        }),
      }),
    ),
  },
  handle: async ({ body, services: { platform, accounts } }) => {
    const { startingAfter, ...named } = body;
    const search = searchNamed(named, startingAfter);
    if (isRejection(search)) return search;
    const found = await platform.findPersonalData(search.of, search.after);
    if (isRejection(found)) return found;
    const data = found.held.map(heldView);
    const pdf = await renderPrivacyReport(data, accounts.realNow());
    const file = { contentType: 'application/pdf' as const, base64: pdf.toString('base64') };
    return { status: 200, body: { data, hasMore: found.next !== null, pdf: file } as never };
  },
});

const eraseRoute = route('POST', '/ops/v1/privacy/erase', {
  operationId: 'erasePersonalData',
  summary: 'Erase a person’s data',
  description:
    'Erases the personal data of up to 1,000 payments and payouts that hold data of the subject. Money, times and ids stay. Payments that have not ended, or whose retention has not passed, are refused.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: s.exactly({
      ...subject,
      reason: s.described('Why, without personal data. It is kept for ever.', s.string(500, { minLength: 1 })),
      despiteRetention: s.optional(s.described('Whether to erase data that the law still requires.', s.boolean)),
    }),
  }),
  reads: READS,
  responses: {
    200: json(
      'The outcome for each payment and payout.',
      s.exactly({
        data: s.listOf(
          s.exactly({
            id: s.string(),
            outcome: s.oneOfTexts(['erased', 'erased_before', 'refused']),
            because: s.described('Why the data stays.', s.orNull(s.string())),
          }),
        ),
        hasMore,
      }),
    ),
  },
  errors: ['invalid_cursor', 'not_found', 'payment_not_final', 'retention_not_passed'],
  handle: async (context) => {
    const { reason, despiteRetention = false, startingAfter, ...named } = context.body;
    const search = searchNamed(named, startingAfter);
    if (isRejection(search)) return search;
    const order = { reason: reason.trim(), despiteRetention };
    const done = await context.services.platform.erasePersonalData(search.of, order, actorOf(context), search.after);
    if (isRejection(done)) return done;
    return { status: 200, body: { data: done.erased.map(erasedView), hasMore: done.next !== null } };
  },
});

export const PRIVACY_ROUTES: readonly Route[] = [findRoute, reportRoute, eraseRoute];

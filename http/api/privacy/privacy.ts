// Routes by which operators find, report and erase the personal data of payers (rules L1–L3). They are POST, so that no URL has a tax id.
import { erasedView, heldView } from '../../../application/privacy/heldView.ts';
import { subjectNamed } from '../../../application/privacy/namedSubject.ts';
import { ACCOUNT } from '../../../domain/account/account.ts';
import { MED_CASE } from '../../../domain/dispute/aggregate.ts';
import { PREFIX } from '../../../domain/kernel/ids.ts';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import {
  anyInteger,
  anyJson,
  boolean,
  constant,
  described,
  exactly,
  id,
  listOf,
  mode,
  oneOfTexts,
  optional,
  orNull,
  string,
  timestamp,
} from '../../kernel/jsonSchema.ts';
import { actorOf, json, jsonBody, type Route, route } from '../../kernel/route.ts';
import { FOR_OPERATORS } from '../ops/tags.ts';
import { renderPrivacyReport } from './reportPdf.ts';

const subject = {
  document: optional(described('A CPF or CNPJ, with or without punctuation.', string(32))),
  email: optional(described('An email address.', string(254))),
  payment: optional(described('The ch_ or tx_ id of a payment.', string(64))),
  payout: optional(described('The po_ id of a payout.', string(64))),
};
const found = {
  kind: oneOfTexts(['payment', 'payout']),
  id: string(),
  chargeId: orNull(id(PREFIX.charge)),
  accountId: id(ACCOUNT.idPrefix),
  mode,
  createdAt: timestamp,
  amount: anyInteger,
  currency: string(),
  keptUntil: described(
    'Until when the law requires the data; null while the payment has not ended.',
    orNull(timestamp),
  ),
  erasedAt: orNull(timestamp),
};
const hasMore = described('Whether more payments or payouts were found than the answer lists.', boolean);
const READS = ['payments', 'payouts', 'disputes'] as const;

const findRoute = route('POST', '/ops/v1/privacy/find', {
  operationId: 'findPersonalData',
  summary: 'Find payments that hold a person’s data',
  description:
    'Returns up to 1,000 payments and payouts of all accounts and modes that hold data of the person. Name exactly one subject. A search for a document or an email address reads every payment once, about 3 s per million.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: exactly(subject) }),
  reads: READS,
  responses: { 200: json('The payments and payouts.', exactly({ data: listOf(exactly(found)), hasMore })) },
  handle: async ({ body, services: { platform } }) => {
    const of = subjectNamed(body);
    if (isRejection(of)) return of;
    const { held, hasMore: more } = await platform.findPersonalData(of);
    const data = held.map(heldView).map(({ data: _, disputes: __, ...one }) => one);
    return { status: 200, body: { data, hasMore: more } };
  },
});

const reportRoute = route('POST', '/ops/v1/privacy/report', {
  operationId: 'reportPersonalData',
  summary: 'Report what is held about a person',
  description:
    'Returns the personal data that Quita holds about the person, for an access request under LGPD article 18: as JSON, and as a PDF in Portuguese. Name exactly one subject.',
  ...FOR_OPERATORS,
  body: jsonBody({ schema: exactly(subject) }),
  reads: READS,
  responses: {
    200: json(
      'The report.',
      exactly({
        data: listOf(
          exactly({
            ...found,
            data: described('The personal data, with the names under which it is stored.', anyJson),
            disputes: listOf(exactly({ id: id(MED_CASE.idPrefix), data: anyJson })),
          }),
        ),
        hasMore,
        pdf: exactly({
          contentType: constant('application/pdf'),
          base64: described('The PDF file, in base64.', string()),
        }),
      }),
    ),
  },
  handle: async ({ body, services: { platform, accounts } }) => {
    const of = subjectNamed(body);
    if (isRejection(of)) return of;
    const { held, hasMore: more } = await platform.findPersonalData(of);
    const data = held.map(heldView);
    const pdf = await renderPrivacyReport(data, accounts.realNow());
    const file = { contentType: 'application/pdf' as const, base64: pdf.toString('base64') };
    return { status: 200, body: { data, hasMore: more, pdf: file } as never };
  },
});

const eraseRoute = route('POST', '/ops/v1/privacy/erase', {
  operationId: 'erasePersonalData',
  summary: 'Erase a person’s data',
  description:
    'Erases the personal data of up to 1,000 payments and payouts that hold data of the subject. Money, times and ids stay. Payments that have not ended, or whose retention has not passed, are refused. A worker then destroys the keys.',
  ...FOR_OPERATORS,
  body: jsonBody({
    schema: exactly({
      ...subject,
      reason: described('Why, without personal data. It is kept for ever.', string(500, { minLength: 1 })),
      despiteRetention: optional(described('Whether to erase data that the law still requires.', boolean)),
    }),
  }),
  reads: READS,
  responses: {
    200: json(
      'The outcome for each payment and payout.',
      exactly({
        data: listOf(
          exactly({
            id: string(),
            outcome: oneOfTexts(['erased', 'erased_before', 'refused']),
            because: described('Why the data stays.', orNull(string())),
          }),
        ),
        hasMore,
      }),
    ),
  },
  errors: ['not_found', 'payment_not_final', 'retention_not_passed'],
  handle: async (context) => {
    const { reason, despiteRetention = false, ...named } = context.body;
    const of = subjectNamed(named);
    if (isRejection(of)) return of;
    const order = { reason: reason.trim(), despiteRetention };
    const done = await context.services.platform.erasePersonalData(of, order, actorOf(context));
    if (isRejection(done)) return done;
    return { status: 200, body: { data: done.erased.map(erasedView), hasMore: done.hasMore } };
  },
});

export const PRIVACY_ROUTES: readonly Route[] = [findRoute, reportRoute, eraseRoute];

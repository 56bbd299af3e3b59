// Generates docs/events.md: every event with its stored format, taken from golden files, and its effects: messages and postings in
// histories of payments, which are the same on each run.

import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { ZERO } from '../../domain/kernel/money.ts';
import type { Message } from '../../domain/kernel/publisher.ts';
import type { EventSerde, Unsaid } from '../../domain/kernel/serde.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { type PaymentEvent, payment } from '../../domain/payment/payment.ts';
import { journalEntry } from '../../domain/payment/postings.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { PayoutState } from '../../domain/payout/payout.ts';
import { payoutPostings } from '../../domain/payout/postings.ts';
import { payoutPublisher } from '../../domain/payout/presentation.ts';
import { EVENT_CATALOGUE } from '../../domain/presentation/catalogue.ts';
import { isPublished, messagesOf } from '../../domain/presentation/messages.ts';
import { HISTORIES as PAYOUT_HISTORIES } from '../domain/payout/samples.ts';
import { histories, run } from '../support/paymentHistories.ts';
import {
  created,
  issued,
  refundCompleted,
  refundReleased,
  refundReserved,
  returnRefused,
  sentBack,
  settled,
} from '../support/samples.ts';
import { SERDE } from '../support/serde.ts';
import { cell, code, listed } from './markdown.ts';

const GOLDEN = new URL('../domain/golden/', import.meta.url);
/** Enough for every event to occur with all its effects, except those in STORIES, which need several steps in a row. */
const HISTORIES = 20_000;
const PAID = [created(), issued(), settled()];
const BY_MERCHANT = { feePaidBy: 'merchant' } as const;
const DEVOLUTION = { strategy: 'devolution', fee: ZERO } as const;
const golden = (type: PaymentEvent['type']): PaymentEvent =>
  (JSON.parse(readFileSync(new URL(`${type}.v1.json`, GOLDEN), 'utf8')) as { event: PaymentEvent }).event;
const REFUSED = [created(), issued(), sentBack('payer_mismatch'), returnRefused()];
const STORIES: readonly (readonly PaymentEvent[])[] = [
  [...PAID, refundReserved(), refundCompleted()],
  [...PAID, refundReserved(BY_MERCHANT), refundCompleted(BY_MERCHANT)],
  [...PAID, refundReserved(), refundReleased()],
  [...PAID, refundReserved(DEVOLUTION), refundCompleted({ fee: ZERO }, null)],
  [...REFUSED, golden('TransactionHeldPayoutRequested'), golden('TransactionHeldPayoutPaid')],
  [...REFUSED, golden('TransactionHeldWrittenOff')],
  [...PAID, golden('TransactionDisputeReturnCounted')],
];

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names of fields with their nested fields, collected from all golden files of a type. */
interface Fields {
  readonly [name: string]: Fields;
}
const fieldsOf = (values: readonly Json[]): Fields => {
  const objects = values.flatMap((value) => (Array.isArray(value) ? value : [value])).filter(isObject);
  const names = [...new Set(objects.flatMap((value) => Object.keys(value)))];
  return Object.fromEntries(
    names.map((name) => [name, fieldsOf(objects.flatMap((value) => (value[name] === undefined ? [] : [value[name]])))]),
  );
};
/** Fields whose content the merchant chooses. */
const FREE_FORM = ['metadata'];
/** Lists fields and their direct children, no deeper. */
const shown = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, inner]) => {
      const names = FREE_FORM.includes(name) ? [] : Object.keys(inner);
      return names.length === 0 ? name : `${name} { ${names.join(', ')} }`;
    })
    .join(', ');

const goldenData = (type: string): readonly Json[] =>
  readdirSync(GOLDEN)
    .filter((name) => name.startsWith(`${type}.v`))
    .map((name) => (JSON.parse(readFileSync(new URL(name, GOLDEN), 'utf8')) as { stored: { data: Json } }).stored.data);

interface Effects {
  readonly messages: Set<string>;
  readonly postings: Set<string>;
}
/** Adds the effects of each payout event. */
const addPayouts = (effects: Map<string, Effects>): void => {
  for (const history of Object.values(PAYOUT_HISTORIES)) {
    let before: PayoutState = PAYOUT.decider.initial;
    for (const event of history) {
      const after = PAYOUT.decider.evolve(before, event);
      const messages = payoutPublisher.messagesOf(before, event, after).map(({ type }) => type);
      const postings = payoutPostings.entryOf(event)?.postings ?? [];
      effects.set(event.type, {
        messages: new Set(messages),
        postings: new Set(postings.map(({ account }) => account)),
      });
      before = after;
    }
  }
};

/** Returns the effects of each payment event, from all histories, or from its golden files if it occurs in none. */
const effectsOf = (): ReadonlyMap<string, Effects> => {
  const effects = new Map<string, Effects>();
  const add = (event: PaymentEvent, messages: readonly Message[]): void => {
    const known = effects.get(event.type) ?? { messages: new Set(), postings: new Set() };
    effects.set(event.type, known);
    for (const { type } of messages) known.messages.add(type);
    for (const { account } of journalEntry(event)?.postings ?? []) known.postings.add(account);
  };
  for (const [isLocked, steps] of fc.sample(histories, { numRuns: HISTORIES, seed: 1 }))
    for (const { before, event, after } of run(isLocked, steps).told) add(event, messagesOf(before, event, after));
  for (const story of STORIES) {
    let state = payment.initial;
    for (const event of story) {
      const after = payment.evolve(state, event);
      add(event, messagesOf(state, event, after));
      state = after;
    }
  }
  addPayouts(effects);
  for (const type of PAYMENT.serde.types.filter((one) => !effects.has(one)))
    for (const data of goldenData(type)) {
      const event = PAYMENT.serde.decode({
        type,
        version: PAYMENT.serde.table[type as PaymentEvent['type']].version,
        data,
      });
      if (isPublished(event)) throw new Error(`no history has ${type}: which messages follow from it is not known`);
      add(event, []);
    }
  return effects;
};

const ORDER = new Map(EVENT_CATALOGUE.map(({ event }, i) => [event, i]));
const inOrder = (types: Iterable<string>) => [...types].toSorted((a, b) => (ORDER.get(a) ?? 0) - (ORDER.get(b) ?? 0));

const entryOf = (serde: { readonly table: object }, type: string): EventSerde<unknown> =>
  (serde.table as Record<string, EventSerde<unknown>>)[type] as EventSerde<unknown>;

const TOLD_BY = {
  subject: 'the subject of the stream',
  account: '`account` of the metadata',
  mode: '`mode` of the metadata',
  correlationId: 'the correlation',
} as const;
type Told = Extract<Unsaid, { readonly is: unknown }>;
const toldBy = ({ is, after }: Told): string =>
  after === undefined ? TOLD_BY[is] : `${code(after)} and ${TOLD_BY[is]}`;
const leftOut = (): readonly string[] =>
  Object.values(SERDE).flatMap((serde) =>
    serde.types.flatMap((type) =>
      Object.entries(entryOf(serde, type).unsaid ?? {}).map(([path, unsaid]) => {
        const value = 'is' in unsaid ? toldBy(unsaid) : code(String(unsaid.usually));
        return `| ${code(type)} | ${code(path)} | ${value} |`;
      }),
    ),
  );

export const eventsPage = (): string => {
  const effects = effectsOf();
  const sections = AGGREGATES.map(({ category, serde, postings, publisher }) => {
    const hasEffects = postings !== null || publisher !== null;
    const rows = serde.types.map((type) => {
      const { version, personal } = entryOf(serde, type);
      const effect = effects.get(type);
      const cells = [
        `\`${type}\``,
        String(version),
        cell(shown(fieldsOf(goldenData(type)))),
        listed(personal.map(code)),
        ...(hasEffects
          ? [
              listed(inOrder(effect?.messages ?? []).map(code)),
              listed([...(effect?.postings ?? [])].toSorted().map(code)),
            ]
          : []),
      ];
      return `| ${cells.join(' | ')} |`;
    });
    const head = hasEffects ? ['webhooks', 'ledger accounts'] : [];
    const columns = ['event', 'version', 'fields', 'personal fields', ...head];
    return `## ${category}-<id>

| ${columns.join(' | ')} |
|${'---|'.repeat(columns.length)}
${rows.join('\n')}
`;
  });
  const names = EVENT_CATALOGUE.map(
    ({ event, description, legacy }) => `| \`${event}\` | ${legacy ? 'legacy' : 'current'} | ${cell(description)} |`,
  );
  return `# Events

The stored events of each kind of stream. Stored data of a version never changes: a changed shape gets a new version with an upcast.
Personal fields identify a person or lead to one. Of payments, refunds, payouts, dispute cases and webhook deliveries they are sealed
([ADR 0017](adr/0017-personal-data-is-sealed-with-a-key-per-payment.md)). "Webhooks" lists the messages that an event can cause, and
"ledger accounts" the accounts to which it can post.

${sections.join('\n')}
## Omitted fields

A field with this value is not stored; reading the event restores it. Some metadata is omitted, too: \`$correlationId\` if it is the
subject of the stream, \`$causationId\` if it equals the correlation, \`requestId\` if it equals the cause, and the version \`v\` if it is 1.
On EventStoreDB the stored metadata always has \`$correlationId\` and \`$causationId\`, because its own tools index them.

| event | field | value |
|---|---|---|
${leftOut().join('\n')}

## Messages to merchants

The names that an endpoint can subscribe to (\`GET /v1/webhooks/event-catalog\`).

| event | family | |
|---|---|---|
${names.join('\n')}
`;
};

// Compares three records: the institution's list, Quita's notifications and payments, and the postings of the clearing account (rule V4). A
// look goes through a span of time in periods, page by page, and continues where it stopped.
import { type AccountId, PLATFORM_ACCOUNT, type RefundId } from '../../domain/kernel/ids.ts';
import { addMillis, DAY_MS, earlier, HOUR_MS, MINUTE_MS, type Timestamp } from '../../domain/kernel/time.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import type { PayoutId } from '../../domain/payout/payout.ts';
import { isTxid } from '../../domain/pix/ids.ts';
import { REFUND } from '../../domain/refund/refund.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { TakeReturns } from '../disputes/takeReturns.ts';
import { type Known, type ReceivedPayment, UnknownAtProvider, unlessUnknown } from '../ports/paymentProvider.ts';
import type {
  Discrepancy,
  Finding,
  FindingAlerts,
  FindingKind,
  ListedItem,
  Look,
  LookStep,
  MovementKey,
  ReconciliationFindings,
  ReconciliationLooks,
} from '../ports/providerBooks.ts';
import type { OpenConnection, Page, SentPayment } from '../ports/providerConnections.ts';
import type { ProviderNotifications } from '../ports/providerNotifications.ts';
import type { ConnectionPayment, ConnectionPayments } from '../ports/readModels/connectionPayments.ts';
import type { ProviderMovements, Unlisted } from '../ports/readModels/providerMovements.ts';

/** The longest period of one query, because the standard limits periods. */
const PERIOD_MS = DAY_MS;
/** Findings of a period saved at once, so that memory stays flat if a day of a million payments is missing. */
const FOUND_PAGE = 5_000;
/** The institution's clock may be ahead by this much. */
const AHEAD_MS = 2 * MINUTE_MS;
/** How many returns or Pix-outs are asked about before the progress is saved. */
const ASKED_PAGE = 20;
const OPEN_PAGE = 1_000;
/** Unreadable items of a page that a comparison passes over. With more, Quita probably misunderstands the institution. */
const UNREADABLE_MAX = 10;

/** How long a movement may be under way before operators get an alert. Institutions may list one an hour late. */
const graceMs = (kind: FindingKind): number => {
  if (kind === 'missing_there') return HOUR_MS;
  return kind === 'missing_here' || kind === 'return_state' ? 2 * MINUTE_MS : 0;
};

export interface CompareNeeds {
  readonly commands: CommandHandler;
  readonly looks: ReconciliationLooks;
  readonly findings: ReconciliationFindings;
  readonly findingAlerts: FindingAlerts;
  readonly providerMovements: ProviderMovements;
  readonly connectionPayments: ConnectionPayments;
  readonly notifications: Pick<ProviderNotifications, 'store' | 'startJob'>;
}

interface Work extends CompareNeeds {
  readonly connection: OpenConnection;
  readonly takeReturns: readonly TakeReturns[];
  /**
   * Whether earlier attempts failed, so that a movement without an answer, an item that can't be read, or a payment that fails must not
   * keep all others from being compared.
   */
  readonly passesOver?: boolean;
}

interface Period {
  readonly from: Timestamp;
  readonly to: Timestamp;
}
const periodOf = ({ until, target }: Look): Period => ({
  from: until,
  to: earlier(addMillis(until, PERIOD_MS - AHEAD_MS), target),
});
/** The last period also covers an institution whose clock is ahead. */
const listedIn = (look: Look): Period => {
  const { from, to } = periodOf(look);
  return { from, to: addMillis(to, AHEAD_MS) };
};

/**
 * Takes the next step of a look: one page, the comparison of a period, or a page of the unresolved findings. Returns the look, with the
 * step `done` at its end, or null if another process has continued it. Throws UnknownAtProvider if the institution gives no answer; the
 * next call repeats the step.
 */
export const takeStep = async (work: Work, look: Look): Promise<Look | null> => {
  if (look.until >= look.target || look.step === 'done') return work.looks.advance(look, { ...look, step: 'done' }, []);
  switch (look.step) {
    case 'received':
      return listReceived(work, look);
    case 'sent':
      return listSent(work, look);
    case 'ask':
      return ask(work, look);
    case 'open':
      return compareOpen(work, look);
    default:
      return compare(work, look);
  }
};

const movedOn = (look: Look, step: LookStep, cursor: string | null = null) => ({ until: look.until, step, cursor });

const known = <T>(answer: Known<T>, what: string): T => {
  if (answer.kind !== 'known') throw new UnknownAtProvider(what);
  return answer.value;
};

/** Returns the page. Throws UnknownAtProvider without an answer, or if items can't be read and are not to be passed over. */
const pageOf = <T>({ passesOver = false }: Work, answer: Known<Page<T>>, what: string): Page<T> => {
  const page = known(answer, what);
  const { unreadable } = page;
  const ids = unreadable.slice(0, UNREADABLE_MAX).map(({ id }) => id);
  if (unreadable.length > (passesOver ? UNREADABLE_MAX : 0))
    throw new UnknownAtProvider(`${what}: ${ids.join(', ')} can't be read`);
  return page;
};

/** Returns items that can't be read, with an amount of 0: each becomes a finding until a later look can read it. */
const unreadableItems = (
  kind: ListedItem['kind'],
  { unreadable }: Page<unknown>,
  { from }: Period,
): readonly ListedItem[] =>
  unreadable.map(({ id, at }) => ({
    ...{ kind, id, pix: '', endToEndId: kind === 'received' ? id : null, txid: null, paymentId: null },
    ...{ amount: 0, status: 'done', isMed: false, at: at ?? from },
  }));

/** Pages after the first are requested with the institution's cursor. */
const listReceived = async (work: Work, look: Look): Promise<Look | null> => {
  const { connection, looks } = work;
  const period = listedIn(look);
  const { from, to } = period;
  const answer = await connection.statement.listReceived(from, to, look.cursor);
  const page = pageOf(work, answer, `payments received from ${from}`);
  const { items, next } = page;
  const listed = [...unreadableItems('received', page, period), ...(await takeReceived(work, items))];
  const then = next === null ? movedOn(look, 'sent') : movedOn(look, 'received', next);
  return looks.advance(look, then, listed);
};

/**
 * Returns the items of received payments and their returns. Those that no payment has recorded are settled as usual, also those of another
 * connection with the same Pix key: their own connection is asked about them. Payments to a former key that another connection has now are
 * that one's, unless they name a charge of this connection. So none is counted twice.
 */
const takeReceived = async (work: Work, all: readonly ReceivedPayment[]): Promise<readonly ListedItem[]> => {
  const { connection, connectionPayments, providerMovements, notifications } = work;
  const { connectionId } = connection.terms;
  const txids = all.flatMap(({ txid }) => (txid !== null && isTxid(txid) ? [txid] : []));
  const charges = await connectionPayments.byTxid(txids);
  const isOwn = ({ txid }: ReceivedPayment) => txid !== null && charges.get(txid)?.connectionId === connectionId;
  const received = all.filter((one) => one.hasMovedKey !== true || isOwn(one));
  const ids = received.map(({ incoming }) => incoming.providerPaymentId);
  const unrecorded = await providerMovements.unrecorded(ids);
  for (const one of received) {
    const charge = one.txid === null ? undefined : charges.get(one.txid);
    if (charge === undefined) continue;
    const { providerPaymentId: reference } = one.incoming;
    const { tenant, paymentId } = charge;
    if (unrecorded.has(reference)) await notifications.store({ tenant, paymentId, kind: 'payment', reference });
    else if (one.returns.length > 0 && charge.connectionId === connectionId) await takeReturnsOf(work, charge, one);
  }
  return received.flatMap((one) => itemsOf(one, one.txid === null ? undefined : charges.get(one.txid)));
};

/**
 * A payment may not take a return now, such as while a refund is under way. That must not keep all others of the connection from being
 * compared: the return becomes a finding, and each later comparison tries again (`takeAgain`).
 */
const takeReturnsOf = async (
  { takeReturns, passesOver = false }: Work,
  charge: ConnectionPayment,
  received: ReceivedPayment,
): Promise<void> => {
  const take = async (): Promise<void> => {
    for (const one of takeReturns) await one(charge, received);
  };
  await take().catch((error: unknown) => passesOver || unlessUnknown(error));
};

const itemsOf = (
  { txid, incoming, returns }: ReceivedPayment,
  charge: ConnectionPayment | undefined,
): readonly ListedItem[] => {
  const { providerPaymentId: pix, amount, paidAt } = incoming;
  const about = { txid, paymentId: charge?.paymentId ?? null };
  const one = { kind: 'received', id: pix, pix: '', endToEndId: pix, amount, status: 'done', isMed: false } as const;
  return [
    { ...one, ...about, at: paidAt },
    ...returns.map(
      ({ id, returnId, nature, status, amount: back, requestedAt, settledAt }): ListedItem => ({
        ...{ kind: 'returned', id, pix, endToEndId: returnId, ...about, amount: back, status },
        ...{ isMed: nature.startsWith('med'), at: settledAt ?? requestedAt },
      }),
    ),
  ];
};

const listSent = async (work: Work, look: Look): Promise<Look | null> => {
  const { statement } = work.connection;
  if (statement.listSent === undefined) return work.looks.advance(look, movedOn(look, 'ask'), []);
  const period = listedIn(look);
  const { from, to } = period;
  const page = pageOf(work, await statement.listSent(from, to, look.cursor), `payments sent from ${from}`);
  const { items, next } = page;
  const then = next === null ? movedOn(look, 'ask') : movedOn(look, 'sent', next);
  return work.looks.advance(look, then, [...unreadableItems('paid_out', page, period), ...items.map(sentItem)]);
};

const sentItem = ({ id, endToEndId, status, amount, at }: SentPayment): ListedItem => ({
  ...{ kind: 'paid_out', id, pix: '', endToEndId, txid: null, paymentId: null, amount, status, isMed: false, at },
});

/**
 * Asks about posted movements that the lists of the period don't show: returns, which institutions list under the day of the received Pix,
 * and Pix-outs if the institution lists none.
 */
const ask = async (work: Work, look: Look): Promise<Look | null> => {
  const { connection, providerMovements, looks } = work;
  await providerMovements.assertCurrent();
  const [moved, after] = look.cursor?.startsWith('paid_out ')
    ? (['paid_out', look.cursor.slice('paid_out '.length)] as const)
    : (['returned', look.cursor ?? ''] as const);
  const page = await providerMovements.unlisted(
    connection.terms.connectionId,
    moved,
    listedIn(look),
    after,
    ASKED_PAGE,
  );
  const items: ListedItem[] = [];
  const askOne = (one: Unlisted) => (moved === 'returned' ? askReturn(work, one) : askSent(work, one));
  for (const one of page) items.push(...(await askOne(one).catch((error: unknown) => passOver(work, look, error))));
  const last = page.at(-1)?.reference;
  if (last !== undefined)
    return looks.advance(look, movedOn(look, 'ask', moved === 'returned' ? last : `paid_out ${last}`), items);
  const asksSent = moved === 'returned' && connection.statement.listSent === undefined && connection.rail !== null;
  return looks.advance(look, asksSent ? movedOn(look, 'ask', 'paid_out ') : movedOn(look, 'compare'), []);
};

/**
 * Returns no items, so that the movement becomes a finding, if the error concerns it alone: the institution answers other requests. Throws
 * the error otherwise.
 */
const passOver = async (
  { connection, passesOver = false }: Work,
  look: Look,
  error: unknown,
): Promise<readonly ListedItem[]> => {
  const { from, to } = listedIn(look);
  const isAlone = async () =>
    !(error instanceof UnknownAtProvider) || (await connection.statement.listReceived(from, to, null)).kind === 'known';
  if (passesOver && (await isAlone())) return [];
  throw error;
};

const askReturn = async (
  work: Work,
  { endToEndId, accountId }: Pick<Unlisted, 'endToEndId' | 'accountId'>,
): Promise<readonly ListedItem[]> => {
  if (endToEndId === null) return [];
  const found = await work.connection.provider.findPayment(ownerOf(work.connection, accountId), endToEndId);
  const received = known(found, `returns of ${endToEndId}`);
  return received === null ? [] : takeReceived(work, [received]);
};
const ownerOf = ({ terms }: OpenConnection, accountId: AccountId) => ({
  accountId: terms.accountId ?? accountId,
  mode: 'live' as const,
});

const askSent = async ({ commands, connection }: Work, one: Unlisted): Promise<readonly ListedItem[]> => {
  const outcome = await (one.paymentId === null
    ? payoutAt(commands, connection, one.reference as PayoutId)
    : refundAt(commands, connection, one.reference as RefundId));
  if (outcome === null) return [];
  const status = outcome.kind === 'confirmed' ? 'done' : outcome.kind;
  const endToEndId = outcome.kind === 'confirmed' ? outcome.endToEndId : null;
  return [sentItem({ id: one.reference, endToEndId, status, amount: one.amount as SentPayment['amount'], at: one.at })];
};

const payoutAt = async (commands: CommandHandler, { rail }: OpenConnection, id: PayoutId) => {
  const { state } = await commands.load(PAYOUT, PAYOUT.stream(id));
  if (state.status === 'absent' || rail === null) return null;
  const { payoutId, accountId, mode, connectionId, amount, destination, description: note } = state.terms;
  const order = { payoutId, accountId, mode, connectionId, amount, destination, note, metadata: null };
  return known(await rail.find(order), `payout ${id}`);
};
const refundAt = async (commands: CommandHandler, { provider }: OpenConnection, id: RefundId) => {
  const { state } = await commands.load(REFUND, REFUND.stream(id));
  return state.status === 'absent' ? null : known(await provider.findRefund(state.order), `refund ${id}`);
};

/** Compares a period whose lists are complete, and returns listed in it that were made at other times. */
const compare = async (work: Work, look: Look): Promise<Look | null> => {
  const { looks, providerMovements, connection } = work;
  const { connectionId } = connection.terms;
  const { from, to } = listedIn(look);
  await looks.forgetVanished(look, from, to);
  await providerMovements.assertCurrent();
  await providerMovements.match(connectionId, { from, to });
  for (let start = from; start <= to; ) {
    const found = await providerMovements.discrepancies(connectionId, { from: start, to }, FOUND_PAGE);
    const scope = { from: start, to: found.complete };
    await save(work, scope, found.discrepancies);
    start = addMillis(found.complete, 1);
  }
  for (let after: string | undefined = ''; after !== undefined; ) {
    const movements: readonly MovementKey[] = await looks.returnsOutside(look, from, to, after, OPEN_PAGE);
    await compareMovements(work, movements);
    after = movements.at(-1)?.reference;
  }
  return looks.advance(look, movedOn(look, 'open'), []);
};

/** Compares a page of the unresolved findings, wherever they are in time. The last page ends the period. */
const compareOpen = async (work: Work, look: Look): Promise<Look | null> => {
  const { looks, providerMovements, findings, connection } = work;
  await providerMovements.assertCurrent();
  const open = await findings.open(connection.terms.connectionId, look.cursor ?? '', OPEN_PAGE);
  const next = open.filter(isUnrecordedReturn)[ASKED_PAGE];
  const page = next === undefined ? open : open.slice(0, open.indexOf(next));
  for (const finding of page) if (isUnrecordedReturn(finding)) await takeAgain(work, finding);
  await compareMovements(work, page);
  const last = page.at(-1)?.id;
  if (last !== undefined) return looks.advance(look, movedOn(look, 'open', last), []);
  const until = periodOf(look).to;
  return looks.advance(look, { until, step: until >= look.target ? 'done' : 'received', cursor: null }, []);
};

const isUnrecordedReturn = ({ kind, expected }: Finding): boolean => kind === 'foreign_return' && expected === null;

/** Reads a received Pix again. Without an answer, the next comparison asks. */
const takeAgain = async (work: Work, { endToEndId }: Finding): Promise<void> => {
  await askReturn(work, { endToEndId, accountId: PLATFORM_ACCOUNT }).catch(unlessUnknown);
};

const compareMovements = async (work: Work, movements: readonly MovementKey[]): Promise<void> => {
  if (movements.length === 0) return;
  const { providerMovements, connection } = work;
  const { connectionId } = connection.terms;
  const scope = { movements };
  await providerMovements.match(connectionId, scope);
  await save(work, scope, await providerMovements.discrepanciesOf(connectionId, movements));
};

const save = async (
  work: Work,
  scope: Parameters<ReconciliationFindings['save']>[1],
  discrepancies: readonly Discrepancy[],
): Promise<void> => {
  const { findings, findingAlerts, connection } = work;
  await startOrders(work, discrepancies);
  for (const finding of await findings.save(connection.terms.connectionId, scope, discrepancies, graceMs))
    findingAlerts.found(finding);
};

/** Starts the jobs of payouts and refunds that the institution made and Quita has not recorded. They ask for the outcome. */
const startOrders = async (work: Work, discrepancies: readonly Discrepancy[]): Promise<void> => {
  const { notifications, providerMovements, connection } = work;
  const ids = discrepancies.flatMap(({ moved, expected, found, reference }) =>
    moved === 'received' || expected !== null || found === null ? [] : [reference.slice(reference.indexOf('/') + 1)],
  );
  if (ids.length === 0) return;
  for (const { id, accountId, paymentId } of await providerMovements.orders(connection.terms.connectionId, ids)) {
    const tenant = { accountId, mode: 'live' as const };
    const kind = paymentId === null ? 'payout' : 'refund';
    await notifications.startJob(tenant, kind, paymentId === null ? { payoutId: id } : { paymentId, refundId: id });
  }
};

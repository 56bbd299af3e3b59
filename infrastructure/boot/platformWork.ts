// What operators are shown of the platform's work and have begun again, for requests and for the command line alike (rule O1).

import { PROCESSES } from '../../application/capabilities.ts';
import type { Accounts } from '../../application/core/accounts.ts';
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { answerCase } from '../../application/disputes/answerCase.ts';
import { dismissCaseReport, settleCase } from '../../application/disputes/settleCase.ts';
import { reviewHeld } from '../../application/payments/reviewHeld.ts';
import { type Position, type RecordedEvent, UnknownPosition } from '../../application/ports/eventStore.ts';
import type { OperatorAlerts } from '../../application/ports/operatorAlerts.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { HeldItem, LedgerFindings, PlatformWork } from '../../application/ports/platformWork.ts';
import { consumerName } from '../../application/ports/processManager.ts';
import { ANY_DEAD_LETTER } from '../../application/ports/redrives.ts';
import type { Sql } from '../../application/ports/sql.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import { NO_CASE } from '../../domain/dispute/decisions.ts';
import { type MedCaseId, parsePrefixedId } from '../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../domain/kernel/rejection.ts';
import { type ExistingPayment, PAYMENT } from '../../domain/payment/payment.ts';
import { transactionStatus } from '../../domain/presentation/status.ts';
import { WEBHOOK_DELIVERY } from '../../domain/webhookDelivery/webhookDelivery.ts';
import { WEBHOOK_ENDPOINT } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { caseReads } from '../../projections/disputes/queries.ts';
import { readCheckpoints } from '../../projections/engine/checkpoints.ts';
import { type RebuildReport, rebuild } from '../../projections/engine/rebuild.ts';
import { type VerifyProgress, verify } from '../../projections/engine/verify.ts';
import { heldMoney, listHeld } from '../../projections/payments/held.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { ledgerReads } from '../../projections/wallet/queries.ts';
import { deadLetterReads } from '../../projections/webhooks/deadLetters.ts';
import { shareOf } from '../eventStore/share.ts';
import { listFailedJobs, redriveJobs } from '../jobs/failedJobs.ts';
import { eventsOfRequests } from '../operations/requestEvents.ts';
import { requestLogReads } from '../operations/requestLog.ts';
import { caseReviewItems } from './caseReviews.ts';
import { parkedWork } from './parkedWork.ts';
import { paymentLedger } from './paymentLedger.ts';
import type { Storage } from './storage.ts';

const READ_MODELS: readonly string[] = PROJECTIONS.map(({ name }) => name);
/** Names of the consumers of the log, which are those of their checkpoints: read models and processes. */
export const CONSUMERS: readonly string[] = [...READ_MODELS, ...PROCESSES.map(consumerName)];

const heldItems = (payment: ExistingPayment): readonly HeldItem[] =>
  heldMoney(payment).map(({ providerPaymentId, amount, payerName, reason, returnRefused, since }) => {
    const { paymentId, accountId, mode, currency, expectedPayerTaxId } = payment.charge.terms;
    return {
      paymentId: PAYMENT.idPrefix + paymentId,
      accountId: ACCOUNT.idPrefix + accountId,
      mode,
      amount,
      currency,
      providerPaymentId,
      payerName,
      expectedPayerTaxId,
      reason,
      returnRefused,
      heldSince: since,
    };
  });

const checkLedger = async (reads: Sql): Promise<LedgerFindings> => {
  const { rows: sums } = await reads.query<LedgerFindings['sums'][number]>(
    'SELECT currency, sum(amount)::bigint AS sum, count(*) AS postings FROM rm_wallet.postings GROUP BY currency ORDER BY currency',
  );
  const { rows: entries } = await reads.query<LedgerFindings['entries'][number]>(
    'SELECT stream, payment_id, revision, sum(amount)::bigint AS sum FROM rm_wallet.postings GROUP BY stream, payment_id, revision, currency HAVING sum(amount) <> 0 LIMIT 100',
  );
  const { rows: balances } = await reads.query<LedgerFindings['balances'][number]>(
    `SELECT account_id, mode, currency, ledger_account, coalesce(b.amount, 0)::bigint AS balance, coalesce(p.amount, 0)::bigint AS postings
     FROM rm_wallet.balances b FULL JOIN (
       SELECT account_id, mode, currency, ledger_account, sum(amount) AS amount FROM rm_wallet.postings GROUP BY 1, 2, 3, 4) p
     USING (account_id, mode, currency, ledger_account) WHERE b.amount IS DISTINCT FROM p.amount LIMIT 100`,
  );
  const disputes = await ledgerReads(reads).disputesRests(null);
  const isBalanced = entries.length === 0 && balances.length === 0 && sums.every(({ sum }) => sum === 0);
  return { sums, entries, balances, disputes, isBalanced };
};

const WORK: { readonly [W in VerifyProgress['work']]: (count: number) => string } = {
  replay: (count) => `${count} events replayed`,
  compare: (count) => `${count} rows compared`,
  fold: (count) => `${count} rows compared with their streams`,
};

const SEVERAL_CASES = reject('invalid_request', 'Several cases have this id at their bank: use the med_ id.');

/** Clients may send one id with many requests: the newest of them are shown. */
export const REQUESTS_SHOWN_MAX = 20;

export const platformWork = (
  needs: {
    readonly commands: CommandHandler;
    readonly accounts: Accounts;
    readonly providers: PaymentProviders;
    readonly alerts: Pick<OperatorAlerts, 'disputeReport'>;
  },
  storage: Storage,
): PlatformWork => {
  const { commands, accounts } = needs;
  const { store, reads, operations, openSession } = storage;
  const deadLetters = deadLetterReads(reads);
  const tenantsWithDeadLetters: PlatformWork['tenantsWithDeadLetters'] = async (wanted) =>
    (await deadLetters.tenants()).filter(({ accountId }) => wanted === null || accountId === wanted);
  return {
    listHeld: async (limit) => {
      const { held, total } = await listHeld(reads, limit);
      return { held: held.flatMap(heldItems), total, rest: total - held.length };
    },
    reviewHeld: async (id, verdict, by, providerPaymentId) => {
      const reviewed = await reviewHeld({ commands, accounts })(id, verdict, by, providerPaymentId);
      if (isRejection(reviewed)) return reviewed;
      const { payment, isNew } = reviewed;
      return { paymentId: PAYMENT.idPrefix + id, status: transactionStatus(payment), isNew };
    },
    listCaseReviews: async (limit) => {
      const cases = caseReads(reads);
      return { waiting: (await cases.waiting(limit)).flatMap(caseReviewItems), total: await cases.countWaiting() };
    },
    reviewCase: async (id, approve, by) => {
      const { state } = await commands.load(MED_CASE, MED_CASE.stream(id));
      if (state.status === 'absent') return NO_CASE;
      const reviewed = await answerCase(needs)(state.terms, id, { kind: 'review', approve }, by);
      if (isRejection(reviewed)) return reviewed;
      const { status, moneyOutcome } = reviewed;
      return { caseId: MED_CASE.idPrefix + id, status, moneyOutcome };
    },
    settleCase: async (id, verdict, reason, by) => {
      const settled = await settleCase(needs)(id, verdict, reason, by);
      if (isRejection(settled)) return settled;
      const { status, moneyOutcome } = settled;
      return { caseId: MED_CASE.idPrefix + id, status, moneyOutcome };
    },
    dismissReport: async (name, reason, by) => {
      const named = parsePrefixedId<MedCaseId>(name, MED_CASE.idPrefix);
      const [id, ...others] = named === null ? await caseReads(reads).waitingReports(name) : [named];
      if (id === undefined) return NO_CASE;
      if (others.length > 0) return SEVERAL_CASES;
      const done = await dismissCaseReport(needs)(id, reason, by);
      return isRejection(done) ? done : { caseId: MED_CASE.idPrefix + id };
    },
    tenantsWithDeadLetters,
    listDeadLetters: async (accountId, limit) => {
      const deliveries: Awaited<ReturnType<PlatformWork['listDeadLetters']>>['deliveries'][number][] = [];
      let total = 0;
      for (const tenant of await tenantsWithDeadLetters(accountId)) {
        const until = await accounts.now(tenant.accountId, tenant.mode);
        for (const { deliveries: count } of await deadLetters.count(tenant, ANY_DEAD_LETTER, until)) total += count;
        const room = limit - deliveries.length;
        const found = room > 0 ? await deadLetters.oldest(tenant, until, room) : [];
        for (const { id, delivery } of found)
          deliveries.push({
            id: WEBHOOK_DELIVERY.idPrefix + id,
            accountId: ACCOUNT.idPrefix + tenant.accountId,
            mode: tenant.mode,
            paymentId: PAYMENT.idPrefix + delivery.paymentId,
            eventType: delivery.eventType,
            endpointId: delivery.endpointId === null ? null : WEBHOOK_ENDPOINT.idPrefix + delivery.endpointId,
            createdAt: delivery.scheduledAt,
          });
      }
      return { deliveries, total };
    },
    readModels: READ_MODELS,
    rebuild: async (name, signal, onProgress) => {
      const reports: RebuildReport[] = [];
      for (const projection of PROJECTIONS.filter((one) => name === 'all' || one.name === name)) {
        const head = await store.head();
        const onTaken = (position: Position, events: number) =>
          onProgress({ share: shareOf(position, head), what: `${projection.name}: ${events} events` });
        reports.push(await rebuild(projection, storage, openSession, signal, onTaken));
      }
      return reports;
    },
    verify: async (signal, onProgress) => {
      const head = await store.head();
      return verify(PROJECTIONS, storage, openSession, signal, (at) => {
        const share = at.position === null ? 0 : shareOf(at.position, head);
        onProgress({ share: (at.step + share) / at.steps, what: `${at.projection}: ${WORK[at.work](at.count)}` });
      });
    },
    readLog: async function* (from, isLive, signal) {
      const after = from === 'start' ? null : await store.head();
      for await (const batch of store.subscribe({ after, categories: null, signal })) {
        if (batch.kind === 'events') yield batch.events;
        else if (batch.kind === 'caughtUp' && !isLive) return;
      }
    },
    listConsumers: async () => {
      const head = await store.head();
      const checkpoints = await readCheckpoints(reads, CONSUMERS);
      const consumers = CONSUMERS.map((name) => {
        const position = checkpoints.get(name)?.position ?? null;
        return { name, position, isCaughtUp: position === head };
      });
      return { head, consumers };
    },
    checkLedger: () => checkLedger(reads),
    showLedger: paymentLedger(commands, reads),
    findRequest: async (requestId, signal) => {
      const requests = await requestLogReads(reads).withRequestId(requestId, REQUESTS_SHOWN_MAX);
      try {
        return { requests, events: await eventsOfRequests(store, requests.toReversed(), signal) };
      } catch (error) {
        if (!(error instanceof UnknownPosition)) throw error;
        return { requests, events: null };
      }
    },
    readStream: async (stream, from, limit) => {
      const events: RecordedEvent[] = [];
      for await (const event of store.readStream(stream, { from })) {
        events.push(event);
        if (events.length === limit) break;
      }
      return events;
    },
    listFailedJobs: async (queue, limit) => {
      const { jobs, total } = await listFailedJobs(reads, queue, limit);
      return {
        jobs: jobs.map(({ tenant: { accountId, mode }, id, queue: of, state, attempts, error, failedAt, ...job }) => ({
          id,
          queue: of,
          state,
          accountId: ACCOUNT.idPrefix + accountId,
          mode,
          attempts,
          error,
          failedAt,
          nextAttemptAt: job.nextAttemptAt,
        })),
        total,
      };
    },
    redriveJobs: (which) => redriveJobs(operations, which),
    ...parkedWork(needs, storage),
  };
};

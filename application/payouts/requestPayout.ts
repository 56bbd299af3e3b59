// POST /v1/payouts (rules Y1, Y4, Y5). After the body, these are checked in order: idempotency, rail, destination, limits, funds.
import type { AccountSettings, OpenAccount } from '../../domain/account/account.ts';
import { allowedDestinations } from '../../domain/account/cashoutDestinations.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import { type Minor, ZERO } from '../../domain/kernel/money.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import { PAYOUT } from '../../domain/payout/aggregate.ts';
import { type RequestedPayout, requestPayout } from '../../domain/payout/decisions.ts';
import type { PayoutId, PayoutState, PayoutTerms } from '../../domain/payout/payout.ts';
import {
  PAYOUT_FINGERPRINT_VERSION,
  type PayoutBody,
  payoutFingerprintFields,
  payoutRequest,
} from '../../domain/payout/request.ts';
import { payoutApprovalAbove, payoutCount, payoutSum, sandboxPayoutApproval } from '../../domain/payout/settings.ts';
import { readable } from '../core/commandHandler.ts';
import { createdIdOf, fingerprintOf } from '../core/derivedIds.ts';
import { type Actor, metadataForRequest } from '../core/eventMetadata.ts';
import { InFlightRequests } from '../core/inFlightRequests.ts';
import type { UseCaseNeeds } from '../core/useCase.ts';
import type { KeyIssuers } from '../ports/keyIssuers.ts';
import type { PayoutFunds } from '../ports/payoutFunds.ts';
import type { PayoutRails, RoutedRail } from '../ports/payoutRail.ts';
import { type CaughtUp, ReadModelsBehind } from '../ports/readModels/progress.ts';
import type { Stopwatch } from '../ports/system.ts';

interface RequestPayoutCommand extends Actor {
  readonly account: OpenAccount;
  readonly mode: Mode;
  readonly idempotencyKey: string;
  readonly body: PayoutBody;
}

/** The cost of a payout. */
export interface PayoutQuote {
  readonly fee: Minor;
  readonly awaitsApproval: boolean;
}

export interface RequestPayoutNeeds extends UseCaseNeeds {
  readonly stopwatch: Stopwatch;
  readonly payoutRails: PayoutRails;
  readonly payoutFunds: PayoutFunds;
  readonly keyIssuers: KeyIssuers;
  readonly caughtUp: CaughtUp;
}

/** The same wait as for reads. */
const CATCH_UP_MS = 1_000;
const BEHIND = 'the ledger has not caught up with the events before this payout';
const UNLIMITED = { countPerHour: null, sumPerHour: null } as const;

export class PayoutRequests {
  readonly #needs: RequestPayoutNeeds;
  readonly #inFlight: InFlightRequests;

  constructor(needs: RequestPayoutNeeds) {
    this.#needs = needs;
    this.#inFlight = new InFlightRequests(needs.stopwatch, 'Idempotency-Key');
  }

  /** Returns the payout as it was requested, and whether this is a replay. Throws ReadModelsBehind if the ledger is not up to date. */
  request(command: RequestPayoutCommand): Promise<RequestedPayout | Rejection> {
    const { account, mode, idempotencyKey } = command;
    const id = createdIdOf<PayoutId>(account, mode, 'payouts.create', idempotencyKey);
    return this.#inFlight.run(id, () => this.#request(command, id));
  }

  /** Returns the fee of a payout and whether it would await approval. Rejects like `request`, except for limits and funds. */
  async quote(command: Pick<RequestPayoutCommand, 'account' | 'mode' | 'body'>): Promise<PayoutQuote | Rejection> {
    const { amount, destination } = payoutRequest(command.body);
    const { accountId } = command.account;
    const routed = await this.#needs.payoutRails.route({ accountId, mode: command.mode });
    const admitted = await this.#admitted(command, routed, { amount, destination });
    if (isRejection(admitted)) return admitted;
    return { fee: feeOf(routed, amount), awaitsApproval: admitted.awaitsApproval };
  }

  async #request(command: RequestPayoutCommand, id: PayoutId): Promise<RequestedPayout | Rejection> {
    const { commands, payoutRails } = this.#needs;
    const { mode, account } = command;
    const { state } = await commands.load(PAYOUT, PAYOUT.stream(id));
    const routed = await payoutRails.route({ accountId: account.accountId, mode });
    const baseTerms = termsOf(command, id, routed);
    if (state.status !== 'absent') return this.#record(command, state, baseTerms);
    const admitted = await this.#admitted(command, routed, baseTerms);
    if (isRejection(admitted)) return admitted;
    // Before anything is reserved, because the issuer may be unreadable.
    const terms = admitted.awaitsApproval ? await this.#awaiting(baseTerms) : baseTerms;
    const refusal = await this.#refusal(terms, admitted.settings);
    return refusal === null ? this.#record(command, state, terms) : this.#unlessRecorded(command, terms, refusal);
  }

  /** Returns why no balance would allow the payout, or whether it needs approval, with the settings that decided it. */
  async #admitted(
    { account, mode }: Pick<RequestPayoutCommand, 'account' | 'mode'>,
    routed: RoutedRail | null,
    { amount, destination }: Pick<PayoutTerms, 'amount' | 'destination'>,
  ) {
    if (routed === null) return reject('unprocessable_entity', 'No payout bank is configured for live mode.');
    const { settings, sandbox } = await this.#needs.accounts.get(account.accountId);
    const allowed = allowedDestinations(settings, mode);
    if (allowed !== null && !allowed.includes(destination))
      return reject('destination_not_allowed', 'The account does not allow payouts to this destination.', {
        param: 'destination.pix_key',
      });
    // In test mode, the sandbox switch takes precedence over the account's setting once it was set.
    const inSandbox = mode === 'test' ? sandboxPayoutApproval.of(sandbox) : null;
    const { above } = inSandbox ?? { above: payoutApprovalAbove.of(settings) };
    return { settings, awaitsApproval: above !== null && amount > above };
  }

  /**
   * Returns the refusal, unless another process recorded the same request in the meantime. In that case the missing funds were the
   * request's own.
   */
  async #unlessRecorded(command: RequestPayoutCommand, terms: PayoutTerms, refusal: Rejection) {
    const { state } = await this.#needs.commands.load(PAYOUT, PAYOUT.stream(terms.payoutId));
    return state.status === 'absent' ? refusal : this.#record(command, state, terms);
  }

  /** Reserves the funds and returns null, or returns why they can't be reserved. Throws ReadModelsBehind. */
  async #refusal(terms: PayoutTerms, settings: AccountSettings): Promise<Rejection | null> {
    const { accounts, caughtUp, payoutFunds } = this.#needs;
    const { payoutId, accountId, mode, currency, amount, fee } = terms;
    const { head: after, isCaughtUp } = await caughtUp('wallet', CATCH_UP_MS);
    if (!isCaughtUp) throw new ReadModelsBehind(BEHIND);
    const agreed = { countPerHour: payoutCount.of(settings), sumPerHour: payoutSum.of(settings) };
    const limits = mode === 'live' ? agreed : UNLIMITED;
    const at = await accounts.now(accountId, mode);
    const reservation = { payoutId, accountId, mode, currency, amount, fee, at, after, ...limits };
    const outcome = await payoutFunds.reserve(reservation);
    switch (outcome) {
      case 'reserved':
        return null;
      case 'behind':
        throw new ReadModelsBehind(BEHIND);
      case 'count':
        return reject('fraud.account_velocity_exceeded', 'Too many payouts by this account within one hour.');
      case 'sum':
        return reject('fraud.account_velocity_exceeded', 'This payout would exceed the account’s hourly payout limit.');
      case 'insufficient':
        return reject('insufficient_funds', 'The amount and its fee exceed the available balance.', {
          param: 'amount',
        });
      default:
        return outcome satisfies never;
    }
  }

  /**
   * Returns the terms with approval required. They name the key's issuer, who may not approve the key's own payouts (Y5). Throws
   * StreamUnreadable if the issuer can't be read.
   */
  async #awaiting(terms: PayoutTerms): Promise<PayoutTerms> {
    const keyIssuer = readable(await this.#needs.keyIssuers.issuerOf(terms.accountId, terms.requestedBy));
    return { ...terms, awaitsApproval: true, keyIssuer };
  }

  async #record(command: RequestPayoutCommand, before: PayoutState, terms: PayoutTerms) {
    const { commands, accounts } = this.#needs;
    const { payoutId, accountId, mode } = terms;
    const abandoned = before.status === 'absent' ? before.abandoned : 0;
    const wish = {
      terms,
      abandoned,
      fingerprintUnder: (version: number) =>
        fingerprintOf(command.account, version, payoutFingerprintFields(command.body)),
      fingerprintVersion: PAYOUT_FINGERPRINT_VERSION,
    };
    const decide = requestPayout(wish, await accounts.now(accountId, mode));
    const metadata = metadataForRequest(command, terms, payoutId);
    const creates = before.status === 'absent' && abandoned === 0;
    const done = await commands.execute(PAYOUT, PAYOUT.stream(payoutId), decide, metadata, { creates });
    return isRejection(done) ? done : done.reply;
  }
}

const feeOf = (routed: RoutedRail | null, amount: Minor): Minor => routed?.rail.feeOf(amount) ?? ZERO;

/** Returns the terms of a payout that needs no approval. Without a rail the fee is 0, which only a replay may reach. */
const termsOf = (
  { account, mode, body, actor }: RequestPayoutCommand,
  payoutId: PayoutId,
  routed: RoutedRail | null,
): PayoutTerms => {
  const request = payoutRequest(body);
  const connectionId = routed?.connectionId ?? null;
  const fee = feeOf(routed, request.amount);
  const by = { requestedBy: actor, keyIssuer: null };
  return { payoutId, accountId: account.accountId, mode, connectionId, ...request, fee, awaitsApproval: false, ...by };
};

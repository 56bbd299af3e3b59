// Accounts for commands and processes: settings, seed and clock, always read from the account's own stream.
import {
  ACCOUNT,
  type AccountState,
  accountTime,
  actingTime,
  isJumpedOver,
  leftAt,
  type OpenAccount,
} from '../../domain/account/account.ts';
import type { DeclaredSettings } from '../../domain/kernel/accountSetting.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { fromMillis, later, type Timestamp, toMillis } from '../../domain/kernel/time.ts';
import type { Clock } from '../ports/system.ts';
import type { CommandHandler } from './commandHandler.ts';

const opened = (id: AccountId, state: AccountState): OpenAccount => {
  if (state.status !== 'open') throw new Error(`account ${id} was never opened`);
  return state;
};

/** Largest tolerated difference between the clocks of two processes. They follow the database's clock and usually differ by far less. */
const CLOCK_SKEW_MS = 5_000;

export class Accounts {
  readonly #commands: CommandHandler;
  readonly #clock: Clock;
  readonly declared: DeclaredSettings;

  constructor(commands: CommandHandler, clock: Clock, declared: DeclaredSettings) {
    this.#commands = commands;
    this.#clock = clock;
    this.declared = declared;
  }

  /**
   * Returns the account from memory. Changes by other processes reach the memory through application/accounts/followChanges.
   */
  async get(id: AccountId): Promise<OpenAccount> {
    return opened(id, (await this.#commands.loadRecent(ACCOUNT, ACCOUNT.stream(id))).state);
  }

  /** Returns the account's time (I4). */
  async now(id: AccountId, mode: Mode): Promise<Timestamp> {
    return accountTime(await this.get(id), mode, this.#clock.now());
  }

  /** Returns the account, read from its stream, including changes by other processes. */
  async refresh(id: AccountId): Promise<OpenAccount> {
    return opened(id, (await this.#commands.load(ACCOUNT, ACCOUNT.stream(id))).state);
  }

  /**
   * Returns the instant, in account time, at which work acts: now, or as of `dueAt` if a test clock jumped over it (X5). Work due within
   * CLOCK_SKEW_MS counts as due, because the host that found it due may have a faster clock.
   */
  async actingAt(id: AccountId, mode: Mode, dueAt: Timestamp | undefined): Promise<Timestamp> {
    if (dueAt === undefined) return this.now(id, mode);
    const at = actingTime(await this.get(id), mode, dueAt, this.#clock.now());
    // The timer seems early only if another process advanced the test clock and this process does not know it yet.
    if (at >= dueAt) return at;
    const refreshed = actingTime(await this.refresh(id), mode, dueAt, this.#clock.now());
    const isNear = toMillis(dueAt) - toMillis(refreshed) <= CLOCK_SKEW_MS;
    return isNear ? later(refreshed, dueAt) : refreshed;
  }

  /** Like `actingAt`, but work that was still under way when the test clock left for a jump ends at that instant (X5). */
  async endingAt(id: AccountId, mode: Mode, dueAt: Timestamp): Promise<Timestamp> {
    return leftAt(await this.get(id), mode, dueAt) ?? this.actingAt(id, mode, dueAt);
  }

  /** Returns whether the test clock jumped since this instant or over it, so that a drain may wait for work due at it. */
  async isBeforeJumpEnd(id: AccountId, mode: Mode, at: Timestamp): Promise<boolean> {
    const account = await this.get(id);
    return isJumpedOver(account, mode, at) || leftAt(account, mode, at) !== null;
  }

  /** Returns whether the test clock was advanced past this instant, so that work due at it runs during the drain. */
  async isJumpedOver(id: AccountId, mode: Mode, at: Timestamp): Promise<boolean> {
    return isJumpedOver(await this.get(id), mode, at);
  }

  realNow(): Timestamp {
    return fromMillis(this.#clock.now());
  }
}

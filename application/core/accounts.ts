// Accounts as commands and processes need them: settings, seed and clock, always from the account's own stream.
import { ACCOUNT, accountTime, actingTime, isJumpedOver, type OpenAccount } from '../../domain/account/account.ts';
import type { AccountSetting } from '../../domain/kernel/accountSetting.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import type { SandboxSwitch } from '../../domain/kernel/sandboxSwitch.ts';
import { fromMillis, later, type Timestamp, toMillis } from '../../domain/kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { CommandHandler } from './commandHandler.ts';

/** The most by which the clocks of two processes may differ. They all follow the database's clock, and differ by far less. */
const CLOCK_SKEW_MS = 5_000;

/** What all capabilities declare that accounts keep for them. */
export interface DeclaredSettings {
  readonly settings: readonly AccountSetting[];
  readonly switches: readonly SandboxSwitch[];
}

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
   * Returns the account as this process remembers it; changes by other processes are followed (application/accounts/followChanges).
   */
  async get(id: AccountId): Promise<OpenAccount> {
    const { state } = await this.#commands.loadRecent(ACCOUNT, ACCOUNT.stream(id));
    if (state.status !== 'open') throw new Error(`account ${id} was never opened`);
    return state;
  }

  /** The account's time (I4). */
  async now(id: AccountId, mode: Mode): Promise<Timestamp> {
    return accountTime(await this.get(id), mode, this.#clock.now());
  }

  /** Returns the account as its stream is now, with what other processes wrote. */
  async refresh(id: AccountId): Promise<OpenAccount> {
    const { state } = await this.#commands.load(ACCOUNT, ACCOUNT.stream(id));
    if (state.status !== 'open') throw new Error(`account ${id} was never opened`);
    return state;
  }

  /**
   * Returns the instant, in account time, at which something due at `dueAt` acts (X5). Another host's clock may have found it due a little
   * ahead of ours, so what is due within CLOCK_SKEW_MS counts as due.
   */
  async actingAt(id: AccountId, mode: Mode, dueAt: Timestamp): Promise<Timestamp> {
    const at = actingTime(await this.get(id), mode, dueAt, this.#clock.now());
    // Its timer came early only if the clock was moved by another process, and this one has not heard of it yet.
    if (at >= dueAt) return at;
    const refreshed = actingTime(await this.refresh(id), mode, dueAt, this.#clock.now());
    const isNear = toMillis(dueAt) - toMillis(refreshed) <= CLOCK_SKEW_MS;
    return isNear ? later(refreshed, dueAt) : refreshed;
  }

  /** Returns whether the test clock was advanced over this instant, so that what is due at it happens during the drain. */
  async isJumpedOver(id: AccountId, mode: Mode, at: Timestamp): Promise<boolean> {
    return isJumpedOver(await this.get(id), mode, at);
  }

  realNow(): Timestamp {
    return fromMillis(this.#clock.now());
  }
}

// Accounts as commands and processes need them: settings, seed and clock, always from the account's own stream.
import { accountTime, actingTime, isJumpedOver, type OpenAccount } from '../../domain/account/account.ts';
import { streamName } from '../../domain/kernel/event.ts';
import type { AccountId, Mode } from '../../domain/kernel/ids.ts';
import { fromMillis, later, type Timestamp, toMillis } from '../../domain/kernel/time.ts';
import type { Clock } from '../ports/clock.ts';
import { ACCOUNT } from './aggregates.ts';
import type { CommandHandler } from './commandHandler.ts';

/** How far apart two processes may hold the time to be: far more than they do, who all go by one clock. */
const CLOCK_SKEW_MS = 5_000;

export class Accounts {
  readonly #commands: CommandHandler;
  readonly #clock: Clock;

  constructor(commands: CommandHandler, clock: Clock) {
    this.#commands = commands;
    this.#clock = clock;
  }

  /** Remembered in this process; other processes' writes to it are announced (see infrastructure/boot/announcements). */
  async get(id: AccountId): Promise<OpenAccount> {
    const { state } = await this.#commands.loadRecent(ACCOUNT, streamName.account(id));
    if (state.status !== 'open') throw new Error(`account ${id} was never opened`);
    return state;
  }

  /** The account's time (I4). */
  async now(id: AccountId, mode: Mode): Promise<Timestamp> {
    return accountTime(await this.get(id), mode, this.#clock.now());
  }

  /** Read from the stream: what another process wrote a moment ago is in it. */
  async refresh(id: AccountId): Promise<OpenAccount> {
    const { state } = await this.#commands.load(ACCOUNT, streamName.account(id));
    if (state.status !== 'open') throw new Error(`account ${id} was never opened`);
    return state;
  }

  /**
   * The instant at which something due at `dueAt` acts (X5). The clock that found it due may be another host's, a little ahead of ours:
   * what is due within CLOCK_SKEW_MS is due.
   */
  async actingAt(id: AccountId, mode: Mode, dueAt: Timestamp): Promise<Timestamp> {
    const at = actingTime(await this.get(id), mode, dueAt, this.#clock.now());
    // Its timer came early only if the clock was moved by another process, and this one has not heard of it yet.
    if (at >= dueAt) return at;
    const refreshed = actingTime(await this.refresh(id), mode, dueAt, this.#clock.now());
    const isNear = toMillis(dueAt) - toMillis(refreshed) <= CLOCK_SKEW_MS;
    return isNear ? later(refreshed, dueAt) : refreshed;
  }

  /** Whether the account's clock was moved over this instant: what is due at it happens while the clock is worked off. */
  async isJumpedOver(id: AccountId, mode: Mode, at: Timestamp): Promise<boolean> {
    return isJumpedOver(await this.get(id), mode, at);
  }

  realNow(): Timestamp {
    return fromMillis(this.#clock.now());
  }
}

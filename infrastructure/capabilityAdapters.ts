// What a capability has in this room: adapters of its ports, and what an operator or merchant runs at a terminal.
import type { CliCommand } from './cli/command.ts';
import type { Triggers } from './cli/scenario.ts';

interface Terminal {
  readonly commands?: readonly CliCommand[];
  readonly triggers?: Triggers;
}

/** An adapter registers what it holds open; the program closes it when it stops. */
export interface Closing {
  readonly closing: (close: () => void | Promise<void>) => void;
}

export const capabilityAdapters = <World, Adapters, OperatorsWorld = unknown, OperatorsAdapters = object>(declared: {
  /** Returns what the capability needs in the running program. */
  readonly adapters: (world: World) => Adapters | Promise<Adapters>;
  /** Returns what its operators' use cases need at a terminal, where there is no job queue and no secrets key. */
  readonly operatorsAdapters?: (world: OperatorsWorld) => OperatorsAdapters;
  /** Loaded only by a command line. */
  readonly terminal?: () => Promise<Terminal>;
}) => ({
  operatorsAdapters: (_: OperatorsWorld) => ({}) as OperatorsAdapters,
  terminal: async (): Promise<Terminal> => ({}),
  ...declared,
});

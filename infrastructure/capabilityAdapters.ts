// The infrastructure side of a capability: adapters of its ports, CLI commands and triggers.
import type { DeclaredSettings } from '../domain/kernel/accountSetting.ts';
import type { CliCommand } from './cli/command.ts';
import type { Triggers } from './cli/scenario.ts';

interface Terminal {
  /** A function if they depend on the account settings that all capabilities declare. */
  readonly commands?: readonly CliCommand[] | ((declared: DeclaredSettings) => readonly CliCommand[]);
  readonly triggers?: Triggers;
}

/** An adapter registers its open resources; the program closes them when it stops. */
export interface Closing {
  readonly closing: (close: () => void | Promise<void>) => void;
}

export const capabilityAdapters = <World, Adapters, OperatorsWorld = unknown, OperatorsAdapters = object>(declared: {
  /** Returns the adapters that the capability needs in the running program. */
  readonly adapters: (world: World) => Adapters | Promise<Adapters>;
  /** Returns the adapters that its operators' use cases need on the command line, without job queue and secrets key. */
  readonly operatorsAdapters?: (world: OperatorsWorld) => OperatorsAdapters;
  /** Loaded only by the command line. */
  readonly terminal?: () => Promise<Terminal>;
}) => ({
  operatorsAdapters: (_: OperatorsWorld) => ({}) as OperatorsAdapters,
  terminal: async (): Promise<Terminal> => ({}),
  ...declared,
});
